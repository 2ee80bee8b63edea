// Answers cases with the reference itself: node record.mjs NODE_MODULES < cases.json > answers.json
// A case is {name, fn, input}; an answer {name, fn, expected} in the form of the tables, or {name, fn, missing: why}.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const modules = process.argv[2];
const at = (...parts) => join(modules, ...parts);
const load = (...parts) => import(pathToFileURL(at(...parts)).href);
const pi = (name) => load("@mariozechner", "pi-coding-agent", "dist", "core", name);
const claw = (name) => at("openclaw", "dist", name);

// OpenClaw's bundle exports its functions under one-letter names; the export statement has both.
async function exported(file, name) {
  const statement = readFileSync(claw(file), "utf8").match(/export \{([^}]*)\};?\s*$/);
  const alias = statement && statement[1].split(",").map((s) => s.trim().split(" as ")).find(([own]) => own === name);
  if (!alias) throw new Error(`${file} does not export ${name}`);
  return (await import(pathToFileURL(claw(file)).href))[alias[1] ?? alias[0]];
}

// What a bundle does not export stands in it between "//#region <source file>" and "//#endregion".
function region(file, source, name) {
  const text = readFileSync(claw(file), "utf8");
  const start = text.indexOf(`//#region ${source}\n`);
  if (start < 0) throw new Error(`${file} has no region ${source}`);
  return new Function(`${text.slice(start, text.indexOf("//#endregion", start))}\nreturn ${name};`)();
}

const SIMPLE = {
  "estimateTokens(message)": async (i) => (await pi("compaction/index.js")).estimateTokens(i.message),
  "estimateContextTokens(messages)": async (i) =>
    (await pi("compaction/compaction.js")).estimateContextTokens(i.messages),
  "shouldCompact(contextTokens, contextWindow, settings)": async (i) =>
    (await pi("compaction/index.js")).shouldCompact(i.contextTokens, i.contextWindow, i.settings),
  "findCutPoint(entries, startIndex, endIndex, keepRecentTokens)": async (i) =>
    (await pi("compaction/index.js")).findCutPoint(i.entries, i.startIndex, i.endIndex, i.keepRecentTokens),
  "buildSessionContext(entries, leafId)": async (i) =>
    (await pi("session-manager.js")).buildSessionContext(i.entries, i.leafId ?? undefined),
  "formatFileOperations(readFiles, modifiedFiles)": async (i) =>
    (await pi("compaction/utils.js")).formatFileOperations(i.readFiles, i.modifiedFiles),
  "isContextOverflow(message, contextWindow)": async (i) =>
    (await load("@mariozechner", "pi-ai", "dist", "utils", "overflow.js")).isContextOverflow(
      i.message, i.contextWindow ?? undefined),
  "SessionManager.open(file)": loaded,
  "dist/session-key-BFl8Ucce.js buildAgentPeerSessionKey": async (i) =>
    (await exported("session-key-BFl8Ucce.js", "buildAgentPeerSessionKey"))(i),
  "dist/session-key-BFl8Ucce.js resolveThreadSessionKeys": async (i) =>
    (await exported("session-key-BFl8Ucce.js", "resolveThreadSessionKeys"))(i),
  "dist/session-key-BFl8Ucce.js toAgentStoreSessionKey": async (i) =>
    (await exported("session-key-BFl8Ucce.js", "toAgentStoreSessionKey"))(i),
  "dist/reply-Bm8VrLQh.js region src/cli/parse-bytes.ts": async (i) =>
    region("reply-Bm8VrLQh.js", "src/cli/parse-bytes.ts", "parseByteSize")(i.raw, { defaultUnit: "b" }),
  "dist/reply-Bm8VrLQh.js region src/cli/parse-duration.ts": async (i) =>
    region("reply-Bm8VrLQh.js", "src/cli/parse-duration.ts", "parseDurationMs")(i.raw, { defaultUnit: "d" }),
};

async function loaded(input) {
  const { SessionManager } = await pi("session-manager.js");
  const folder = mkdtempSync(join(tmpdir(), "vectors-"));
  const path = join(folder, "s.jsonl");
  try {
    writeFileSync(path, input.file);
    const session = SessionManager.open(path);
    const fileAfter = readFileSync(path, "utf8");
    const entries = session.getEntries();
    const labels = entries.map(({ id }) => [id, session.getLabel(id)]).filter(([, label]) => label !== undefined);
    return {
      header: session.getHeader(), leafId: session.getLeafId(), entries, fileRewritten: fileAfter !== input.file,
      fileAfter: fileAfter.split("\n"), sessionName: session.getSessionName() ?? null,
      labels: Object.fromEntries(labels), context: session.buildSessionContext(),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function answer({ name, fn, input }) {
  const found = Object.keys(SIMPLE).find((known) => fn.startsWith(known));
  if (!found) return { name, fn, missing: "this recorder does not know the function" };
  try {
    return { name, fn, expected: (await SIMPLE[found](input)) ?? null };
  } catch (error) {
    if (["ERR_MODULE_NOT_FOUND", "ENOENT"].includes(error.code)) return { name, fn, missing: error.message.split("\n")[0] };
    return { name, fn, expected: { throws: error.message } };
  }
}

const cases = JSON.parse(readFileSync(0, "utf8"));
const answers = [];
for (const each of cases) answers.push(await answer(each));
process.stdout.write(JSON.stringify(answers));
