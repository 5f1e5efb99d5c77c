// Worker threads, child processes, the thread pool, streams and the file system; prints what came of it.
//
//   node workers.js ROUNDS
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const childProcess = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const zlib = require('zlib');
const { promisify } = require('util');

const rounds = Number(process.argv[2] || 1);

function digest(number) {
  const table = {};
  for (let i = 0; i < 3000; ++i) table['k' + i] = [i * number, 'v' + i];
  return crypto.createHash('sha256').update(JSON.stringify(table)).digest('hex').slice(0, 16);
}

function inWorker(number) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(__filename, { workerData: number, argv: [String(rounds)] });
    let answer;
    worker.on('message', (message) => { answer = message; });
    worker.on('error', reject);
    worker.on('exit', (code) => resolve([answer, code]));
  });
}

async function terminated() {
  const worker = new Worker('for (;;) {}', { eval: true });
  await new Promise((resolve) => worker.on('online', resolve));
  return worker.terminate();
}

function forked(number) {
  return new Promise((resolve) => {
    const child = childProcess.fork(__filename, [String(rounds)], { env: { ...process.env, CHILD: '1' } });
    let answer;
    child.on('message', (message) => { answer = message; child.disconnect(); });
    child.on('exit', (code, signal) => resolve([answer, code, signal]));
    child.send(number);
  });
}

async function main() {
  const numbers = [...Array(2 * rounds).keys()];
  console.log('workers', JSON.stringify(await Promise.all(numbers.map(inWorker))));
  console.log('terminated', await terminated());
  console.log('forked', JSON.stringify(await Promise.all([1, 2].map(forked))));
  const shell = childProcess.spawnSync('sh', ['-c', 'echo out; echo err >&2; exit 4']);
  console.log('shell', shell.status, String(shell.stdout), String(shell.stderr));
  const killed = childProcess.spawn('sleep', ['30']);
  const ended = new Promise((resolve) => killed.on('exit', (code, signal) => resolve([code, signal])));
  killed.kill();
  console.log('killed', JSON.stringify(await ended));
  const data = Buffer.from('0123456789abcdef'.repeat(20000 * rounds));
  const packed = await Promise.all([1, 5, 9].map((level) => promisify(zlib.deflate)(data, { level })));
  console.log('packed', packed.map((part) => part.length).join());
  const keys = await Promise.all(numbers.map((n) => promisify(crypto.scrypt)('p' + n, 'salt', 16)));
  console.log('scrypt', keys.map((key) => key.toString('hex')).join());
  await fs.promises.writeFile('written', packed[2]);
  console.log('read', (await fs.promises.readFile('written')).length);
  process.exitCode = 3;
}

if (!isMainThread) {
  parentPort.postMessage(digest(workerData));
} else if (process.env.CHILD) {
  process.on('message', (number) => process.send(digest(number)));
} else {
  main();
}
