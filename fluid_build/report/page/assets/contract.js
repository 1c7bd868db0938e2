// The contract as a tree of its lines, folded by their indentation. A block's lines are made when
// it is opened: a contract may have a hundred thousand.
const contractText = document.getElementById("contract-text");
let contractLines = [];
let contractLevels = [];
let contractHits = [];
let contractHit = -1;
let contractSearch = "";

// The items of a list are as deep as its key, and belong to it; an empty line belongs to the text
// above it.
function lineLevel(line) {
  const text = line.trimStart();
  if (!text) return Infinity;
  return 2 * (line.length - text.length) + (text.startsWith("- ") ? 1 : 0);
}

function blockEnd(start) {
  let end = start + 1;
  while (end < contractLines.length && contractLevels[end] > contractLevels[start]) end += 1;
  return end;
}

function lineElement(tag, number) {
  const element = document.createElement(tag);
  const [, key, rest] = contractLines[number].match(/^(\s*(?:- )?[\w$.-]+:)?(.*)$/s);
  if (key) {
    const name = document.createElement("span");
    name.className = "yaml-key";
    name.textContent = key;
    element.append(name);
  }
  element.append(rest);
  element.dataset.line = number;
  element.classList.add("line");
  return element;
}

function foldedBlock(start, end) {
  const details = document.createElement("details");
  details.dataset.start = start;
  details.dataset.end = end;
  const summary = lineElement("summary", start);
  const size = document.createElement("span");
  size.className = "remark";
  size.textContent = ` ${(end - start - 1).toLocaleString("en")} ${end - start === 2 ? "line" : "lines"}`;
  summary.append(size);
  details.append(summary);
  details.addEventListener("toggle", () => openBlock(details));
  return details;
}

function openBlock(details) {
  if (details.childElementCount > 1 || !details.open) return;
  const body = document.createElement("div");
  fillBlock(body, Number(details.dataset.start) + 1, Number(details.dataset.end));
  details.append(body);
}

function fillBlock(body, start, end) {
  for (let line = start; line < end; line = blockEnd(line)) {
    const last = Math.min(blockEnd(line), end);
    body.append(last - line > 1 ? foldedBlock(line, last) : lineElement("div", line));
  }
}

function showLine(number) {
  let block = contractText;
  for (;;) {
    const inner = [...block.querySelectorAll("details")].find(
      (each) => Number(each.dataset.start) < number && number < Number(each.dataset.end) && !each.open,
    );
    if (!inner) break;
    inner.open = true;
    openBlock(inner);
    block = inner;
  }
  contractText.querySelector(".hit")?.classList.remove("hit");
  const line = contractText.querySelector(`[data-line="${number}"]`);
  line.classList.add("hit");
  line.scrollIntoView({ block: "center" });
}

function stepToHit(step) {
  const label = document.getElementById("contract-hits");
  if (!contractHits.length) {
    label.textContent = document.getElementById("contract-find").value ? "Nothing found" : "";
    return;
  }
  contractHit = (contractHit + step + contractHits.length) % contractHits.length;
  label.textContent = `${(contractHit + 1).toLocaleString("en")} of ${contractHits.length.toLocaleString("en")}`;
  showLine(contractHits[contractHit]);
}

function findInContract(text) {
  contractSearch = text;
  const searched = text.toLowerCase();
  contractHits = searched ? contractLines.flatMap((line, number) => (line.toLowerCase().includes(searched) ? [number] : [])) : [];
  contractHit = -1;
  stepToHit(1);
}

async function drawContract() {
  contractLines = (await unpacked("packed-contract")).replace(/\n$/, "").split("\n");
  contractLevels = contractLines.map(lineLevel);
  contractText.replaceChildren();
  fillBlock(contractText, 0, contractLines.length);
  const exposes = [...contractText.children].find((each) => each.textContent.startsWith("exposes:"));
  if (!exposes) return;
  exposes.open = true;
  // The event that would fill it comes a frame later.
  openBlock(exposes);
}

if (contractText) {
  onShow("contract", drawContract);
  const input = document.getElementById("contract-find");
  const searchOrStep = (step) => {
    if (input.value === contractSearch) stepToHit(step);
    else findInContract(input.value);
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") searchOrStep(event.shiftKey ? -1 : 1);
  });
  document.getElementById("contract-previous").addEventListener("click", () => searchOrStep(-1));
  document.getElementById("contract-next").addEventListener("click", () => searchOrStep(1));
  document.getElementById("contract-copy").addEventListener("click", async (event) => {
    await copyFrom(event.target, await unpacked("packed-contract"));
  });
}
