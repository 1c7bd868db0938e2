// The answers to questions far down the list are unpacked when a question is first unfolded.
document.addEventListener(
  "toggle",
  (event) => {
    const answers = event.target.querySelector(":scope > [data-pack]");
    if (answers) fillPanel(answers);
  },
  true,
);
