const data = JSON.parse(document.getElementById("data").textContent);
startTheme();
startCopy(data);
startTokens();
const map = document.getElementById("heatmap");
if (map && data.document?.pattern) new Heatmap(map, data.document.pattern, data.strips, data.words);
