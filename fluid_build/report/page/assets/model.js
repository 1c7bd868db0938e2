// The SQL of a relation is filled in when the relation is first shown.
async function fillQuery(block) {
  const queries = JSON.parse(await unpacked("packed-queries"));
  block.querySelector("code").textContent = queries[block.dataset.sql];
}

function fillQueries(panel) {
  for (const block of panel.querySelectorAll("[data-sql]")) {
    if (!block.querySelector("code").firstChild) fillQuery(block);
  }
}

onPanel(fillQueries);
