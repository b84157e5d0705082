// SPDX-License-Identifier: MIT
// The program that node.exe runs for api_trace.py: HTTP, files, compression, hashes, threads, and an exception. Prints
// the results.
const http = require('http'), fs = require('fs'), os = require('os'), path = require('path'), zlib = require('zlib');
const crypto = require('crypto'), {Worker, isMainThread} = require('worker_threads');
const COUNT = 50;

function get(port, number) {
  return new Promise((resolve, reject) => http.get({port, host: '127.0.0.1', path: '/' + number}, answer => {
    let text = '';
    answer.on('data', more => text += more);
    answer.on('end', () => resolve(text));
  }).on('error', reject));
}

async function work(port) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'work'));
  let right = 0;
  for (let i = 0; i < COUNT; i++) {
    right += await get(port, i) === 'hello /' + i;
    const file = path.join(folder, 'file' + i);
    fs.writeFileSync(file, 'x'.repeat(i));
    right += fs.readFileSync(file).length === i;
    fs.unlinkSync(file);
  }
  fs.rmdirSync(folder);
  const packed = zlib.gzipSync(Buffer.alloc(1e6, 7));
  console.log('right', right, 'packed', packed.length, 'unpacked', zlib.gunzipSync(packed).length);
  console.log('hash', crypto.createHash('sha256').update('abc').digest('hex'));
  console.log('workers', await Promise.all([1, 2, 3].map(() => new Promise(
    resolve => new Worker(__filename).on('message', resolve)))));
  try { null.property; } catch (e) { console.log('caught', e.constructor.name); }
}

if (isMainThread) {
  const server = http.createServer((request, answer) => answer.end('hello ' + request.url));
  server.listen(0, '127.0.0.1', async () => {
    await work(server.address().port);
    server.close();
  });
} else {
  let sum = 0;
  for (let i = 0; i < 1e5; i++) sum += i;
  require('worker_threads').parentPort.postMessage(sum);
}
