/* SPDX-License-Identifier: MIT */
/* Run by node.exe: answers its own requests over HTTP, so that its providers have something to tell of; with a second
   argument it has a child do the same. serve.js REQUESTS [child] */
'use strict';
const http = require('http');
const { spawnSync } = require('child_process');
const requests = Number(process.argv[2]);
const server = http.createServer((request, response) => response.end('an answer'));

function ask(left) {
  if (left === 0) {
    server.close();
    if (process.argv[3] === 'child')
      spawnSync(process.execPath, [...process.execArgv, __filename, String(requests)], { stdio: 'inherit' });
    console.log(`process ${process.pid} made ${requests} requests`);
    return;
  }
  http.get({ port: server.address().port, agent: false }, (response) => {
    response.resume();
    response.on('end', () => ask(left - 1));
  });
}

server.listen(0, '127.0.0.1', () => ask(requests));
