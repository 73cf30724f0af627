// node schedules.mjs PAGE_MAKESPANS FILE ENTRY: prints [number of cases, those in which the page's model differs].
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import vm from "node:vm";

const [program, file, entry] = process.argv.slice(2), web = new URL("../../compiler/page/web/", import.meta.url);
const script = ["expressions.js", "schedule.js"].map((name) => fs.readFileSync(new URL(name, web), "utf8")).join("");
const Schedule = vm.runInThisContext(`${script};Schedule`);
const pages = {}, wrong = [];
let checked = 0;
for (const line of execFileSync(program, [file, entry], { encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n")) {
  const { schedule, page, sizes, workers, handoff, end } = JSON.parse(line);
  if (page) {
    pages[schedule] = page;
    continue;
  }
  const given = new Map(Object.entries(sizes)), found = Schedule.simulate(Schedule.chosen(pages[schedule].variants, given), given, workers, handoff).end;
  ++checked;
  if (found !== end) wrong.push({ schedule, sizes, workers, handoff, end, found });
}
console.log(JSON.stringify([checked, wrong]));
