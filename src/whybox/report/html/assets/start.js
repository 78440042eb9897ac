const data = JSON.parse(document.getElementById("data").textContent);
startTheme();
startCopy(data);
startTokens();
const map = document.getElementById("heatmap");
if (map && data.pattern) new Heatmap(map, data.pattern, data.axes, data.words);
