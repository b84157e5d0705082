// SPDX-License-Identifier: MIT
// node powershell.js FOLDER SCRIPT...: checks the syntax of PowerShell scripts with the tree-sitter grammar, which
// editors use. FOLDER is where `npm install --ignore-scripts web-tree-sitter tree-sitter-powershell` was run. Prints
// each syntax error; the exit code is 1 if there is one.
const fs = require("fs"), path = require("path");
const packages = path.join(path.resolve(process.argv[2]), "node_modules");
const { Parser, Language } = require("module").createRequire(packages + path.sep)("web-tree-sitter");

function faults(node, found) {
    if (node.isError || node.isMissing) {
        found.push("line " + (node.startPosition.row + 1) + ": " + JSON.stringify(node.text.slice(0, 60)));
    } else if (node.hasError) {
        node.children.forEach(child => faults(child, found));
    }
    return found;
}

async function main() {
    await Parser.init();
    const parser = new Parser();
    parser.setLanguage(await Language.load(path.join(packages, "tree-sitter-powershell", "tree-sitter-powershell.wasm")));
    const wrong = text => faults(parser.parse(text).rootNode, []);
    if (!wrong("if ($x { 1 }").length) {
        throw new Error("the grammar takes everything");
    }
    for (const file of process.argv.slice(3)) {
        for (const fault of wrong(fs.readFileSync(file, "utf8"))) {
            console.log(file + ": " + fault);
            process.exitCode = 1;
        }
    }
}

main().catch(error => {
    console.log(String(error));
    process.exitCode = 2;
});
