/** How a number is written: three significant digits, a true minus sign, as `report/numbers.py` writes it. */

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** −1.96, 0.0455, 12,300, 3.20 × 10⁻⁵; a dash where there is no number. */
export function numberText(value) {
  if (value === null) return "—";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size < 1e-4) return sign + powerOfTen(size);
  if (size >= 999.5) return sign + Number(size.toPrecision(3)).toLocaleString("en");
  return sign + size.toPrecision(3).replace(/\.$/, "");
}

/** A share in [0, 1]: 41.2 %, 100 %, 0 %; below 0.1 % as a bound. */
export function percentText(share) {
  if (share === 0) return "0 %";
  return share < 0.001 ? "< 0.1 %" : `${numberText(100 * share)} %`;
}

function powerOfTen(size) {
  const [mantissa, exponent] = size.toExponential(2).split("e");
  const raised = [...exponent].map((sign) => (sign === "-" ? "⁻" : RAISED[sign])).join("");
  return `${mantissa} × 10${raised}`;
}
