// The page as a folder of files, dist: it needs no server, and opens from the disk as well.
import * as esbuild from "esbuild";
import fs from "node:fs";

fs.rmSync("dist", { recursive: true, force: true });
await esbuild.build({
  entryPoints: { page: "src/page.js", "editor.worker": "node_modules/monaco-editor/esm/vs/editor/editor.worker.js" },
  outdir: "dist",
  bundle: true,
  format: "iife",
  minify: true,
  loader: { ".ttf": "file" },
  assetNames: "[name]",
  logLevel: "warning",
});
fs.copyFileSync("src/index.html", "dist/index.html");
