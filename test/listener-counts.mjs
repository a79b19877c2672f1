// Preloaded into the service (NODE_OPTIONS): writes which object has more listeners for one event than anything in it needs, such as
// the process, a socket or an AbortSignal, each once.
import { EventEmitter, getEventListeners } from 'node:events';

const MANY = 20;
const known = new Set();

function look(target, type) {
  const count = getEventListeners(target, type).length;
  const name = `${target?.constructor?.name} ${String(type)}`;
  if (count <= MANY || known.has(name)) return;
  known.add(name);
  process.stderr.write(`listeners: ${count} of ${name}\n`);
}

for (const [prototype, methods] of [
  [EventEmitter.prototype, ['on', 'addListener', 'once', 'prependListener']],
  [EventTarget.prototype, ['addEventListener']],
]) {
  for (const method of methods) {
    const original = prototype[method];
    prototype[method] = function (type, ...rest) {
      const result = original.call(this, type, ...rest);
      look(this, type);
      return result;
    };
  }
}
