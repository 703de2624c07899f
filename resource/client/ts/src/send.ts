import { ProblemError } from './problem.js';

/** ClientOptions is the second argument of Client. */
export interface ClientOptions {
	/** headers are sent with each request, or a function that returns them, such as Authorization. */
	headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
	/** fetch sends the requests. Default: the global function. */
	fetch?: typeof fetch;
	/** attempts limits how often a request is sent. Default 8, which is about 20 seconds. */
	attempts?: number;
	/** maxWait limits the milliseconds between two attempts. Default 10000. If Retry-After is longer, the error is thrown. */
	maxWait?: number;
	/** silence is the milliseconds without data after which a stream is considered lost. Default 45000. */
	silence?: number;
}

/** WriteOptions is the last argument of writes. */
export interface WriteOptions {
	signal?: AbortSignal;
	/**
	 * key is the idempotency key. Default: a new UUID of version 7. A caller that stores the key before the write, and
	 * repeats the write with it after a crash, has one effect.
	 */
	key?: string;
	/** tag is the entity tag that the item must have, or * for any. */
	tag?: string;
}

/** Outgoing is a request that can be sent several times. */
export interface Outgoing {
	method: string;
	path: string; // with the query
	value?: object; // sent as JSON
	text?: string; // sent as it is
	media?: string;
	write?: boolean; // has an idempotency key
}

/** Sent is a response that is not an error. value is undefined if it has no content. */
export interface Sent {
	header: Headers;
	value: unknown;
}

/** LostError is an error of the connection. The server may have carried out the request. */
export class LostError extends Error {
	override readonly name = 'LostError';
}

/** Sender sends requests, again if they fail temporarily. */
export class Sender {
	readonly base: string;
	readonly attempts: number;
	readonly maxWait: number;
	readonly silence: number;
	readonly #headers: ClientOptions['headers'];
	readonly #fetch: typeof fetch;

	constructor(base: string, options: ClientOptions) {
		this.base = base.replace(/\/+$/, '');
		this.attempts = options.attempts ?? 8;
		this.maxWait = options.maxWait ?? 10_000;
		this.silence = options.silence ?? 45_000;
		this.#headers = options.headers;
		this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
	}

	/** open sends a request once and returns the response, whatever its status code. */
	async open(out: Outgoing, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
		const own = typeof this.#headers === 'function' ? await this.#headers() : this.#headers;
		const content = out.value === undefined ? out.text : JSON.stringify(out.value);
		try {
			return await this.#fetch(this.base + out.path, {
				method: out.method,
				headers: {
					Accept: 'application/json',
					...(content !== undefined && { 'Content-Type': out.media ?? 'application/json' }),
					...own,
					...headers,
				},
				...(content !== undefined && { body: content }),
				...(signal && { signal }),
			});
		} catch (cause) {
			throw lost(out, cause, signal);
		}
	}

	/** send sends a request until it is answered or the attempts are used up. */
	async send(out: Outgoing, options: WriteOptions): Promise<Sent> {
		const headers: Record<string, string> = {};
		if (out.write) {
			headers['Idempotency-Key'] = `"${(options.key ?? newKey()).replace(/["\\]/g, '\\$&')}"`;
		}
		if (options.tag !== undefined) {
			headers['If-Match'] = options.tag;
		}
		for (let attempt = 1; ; attempt++) {
			try {
				return await this.#attempt(out, headers, options.signal);
			} catch (err) {
				const delay = this.delay(attempt, err);
				if (delay === undefined || attempt === this.attempts) {
					throw err;
				}
				await pause(delay, options.signal);
			}
		}
	}

	async #attempt(out: Outgoing, headers: Record<string, string>, signal?: AbortSignal): Promise<Sent> {
		const response = await this.open(out, headers, signal);
		let content: string;
		try {
			content = await response.text();
		} catch (cause) {
			throw lost(out, cause, signal);
		}
		if (!response.ok) {
			throw new ProblemError(`${out.method} ${out.path}`, response.status, response.headers, content);
		}
		return { header: response.headers, value: content === '' ? undefined : JSON.parse(content) };
	}

	/** delay returns the milliseconds until the next attempt, or undefined if the error is permanent. */
	delay(attempt: number, err: unknown): number | undefined {
		const backoff = Math.min(100 * 2 ** Math.min(attempt - 1, 20), this.maxWait) * (0.5 + Math.random() / 2);
		if (err instanceof LostError) {
			return backoff;
		}
		if (!(err instanceof ProblemError)) {
			return undefined;
		}
		if (![408, 425, 429, 502, 503, 504].includes(err.status) && !(err.status === 409 && err.kind === 'request-in-flight')) {
			return undefined;
		}
		const asked = retryAfter(err.header.get('Retry-After') ?? '');
		return asked > this.maxWait ? undefined : Math.max(asked, backoff);
	}

	/** again calls attempt until it throws no problem with a status code. */
	async again<R>(status: number, signal: AbortSignal | undefined, attempt: () => Promise<R>): Promise<R> {
		for (let n = 1; ; n++) {
			try {
				return await attempt();
			} catch (err) {
				if (!(err instanceof ProblemError) || err.status !== status || n === this.attempts) {
					throw err;
				}
				await pause(this.delay(n, new LostError()) ?? 0, signal);
			}
		}
	}
}

function lost(out: Outgoing, cause: unknown, signal?: AbortSignal): unknown {
	return signal?.aborted ? signal.reason : new LostError(`${out.method} ${out.path}: the connection failed`, { cause });
}

/** retryAfter parses Retry-After (RFC 9110 section 10.2.3) to milliseconds. */
function retryAfter(value: string): number {
	if (/^\d+$/.test(value)) {
		return Number(value) * 1000;
	}
	const at = Date.parse(value);
	return Number.isNaN(at) ? 0 : Math.max(at - Date.now(), 0);
}

/** pause waits. It throws the reason of a signal that aborts. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
	signal?.throwIfAborted();
	await new Promise<void>((resolve, reject) => {
		const abort = () => {
			clearTimeout(timer);
			reject(signal?.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener('abort', abort);
			resolve();
		}, milliseconds);
		signal?.addEventListener('abort', abort, { once: true });
	});
}

/** newKey returns a UUID of version 7 (RFC 9562 section 5.7). */
function newKey(): string {
	const id = crypto.getRandomValues(new Uint8Array(16));
	const view = new DataView(id.buffer);
	const now = Date.now();
	view.setUint16(0, Math.floor(now / 2 ** 32));
	view.setUint32(2, now % 2 ** 32);
	view.setUint8(6, 0x70 | (view.getUint8(6) & 0x0f));
	view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
	const text = Array.from(id, (b) => b.toString(16).padStart(2, '0')).join('');
	return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
