import type { IncomingMessage } from 'node:http';

const controllers = new WeakMap<IncomingMessage['socket'], AbortController>();

/**
 * The signal that fires when the caller is gone. An HTTP/1 connection carries one request at a time, so its signal belongs to the
 * socket: making a controller costs as much as all gates together, and a kept-alive connection pays it once.
 */
export function connectionSignal(request: IncomingMessage): AbortSignal {
  return controllerOf(request.socket).signal;
}

/** Ends the waits of the request this connection carries; a task that has started goes on to its end. */
export function abortConnection(request: IncomingMessage): void {
  controllerOf(request.socket).abort();
}

function controllerOf(socket: IncomingMessage['socket']): AbortController {
  let controller = controllers.get(socket);
  if (controller === undefined) {
    controller = new AbortController();
    controllers.set(socket, controller);
    if (socket.destroyed) controller.abort();
    else socket.once('close', () => controller?.abort());
  }
  return controller;
}
