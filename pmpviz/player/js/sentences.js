// What the server says, as it stands beneath the pictures: what to do comes first, and before a class it is short.

export const ASKS = /press Play/;
// What a server that compiles cannot say in time, in place of the sentence that asks for Play.
export const STARTING = "Starting: what has not run before is compiled first, a few seconds.";
const ASKED = /(?<=^|\. )([^.]*): press Play([^.]*)\.$/;
const CLASS_LETTERS = 180;

// What to do stands before what is not there yet.
export function withPlay(text) {
  return text.replace(ASKED, invited);
}

function invited(_, missing, more) {
  return `Press Play, or Space${more}: ${missing[0].toLowerCase()}${missing.slice(1)}.`;
}

// Without what stands in brackets, which a class is spared.
export function unbracketed(text) {
  return text.replace(/ \([^()]*\)/g, "");
}

// The first sentences without what stands in brackets, of so many letters as a class can read; the first is whole.
export function brief(text) {
  const sentences = unbracketed(text).split(/(?<=\.) (?=\p{Lu})/u);
  let said = sentences.shift();
  while (sentences.length && said.length + sentences[0].length < CLASS_LETTERS) said += ` ${sentences.shift()}`;
  // Of a sentence that is too long what comes first, where that says something by itself.
  const [first, ...more] = (sentences[0] || "").split("; ");
  return more.length && said.length + first.length < CLASS_LETTERS ? `${said} ${first}.` : said;
}
