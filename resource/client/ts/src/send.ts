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
	/** silence is the milliseconds without data after which a response to follow is considered lost. Default 45000. */
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
	watched?: boolean; // lost if no data arrive for ClientOptions.silence
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

/** Watch aborts its signal when the signal of the caller aborts, and if no data are received for some time. */
export class Watch {
	readonly #own = new AbortController();
	readonly #silence: number;
	readonly #caller: AbortSignal | undefined;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(silence: number, caller?: AbortSignal) {
		caller?.throwIfAborted(); // its event is not repeated
		caller?.addEventListener('abort', this.#abort, { once: true });
		this.#caller = caller;
		this.#silence = silence;
		this.received();
	}

	get signal(): AbortSignal {
		return this.#own.signal;
	}

	readonly #abort = () => this.#own.abort(this.#caller?.reason);

	/** received starts the time again. */
	readonly received = (): void => {
		this.pause();
		this.#timer = setTimeout(() => this.#own.abort(new LostError(`no data for ${this.#silence} ms`)), this.#silence);
	};

	/** pause stops the time until received is called. */
	pause(): void {
		clearTimeout(this.#timer);
	}

	/** end aborts what is left of the response. */
	end(): void {
		this.pause();
		this.#caller?.removeEventListener('abort', this.#abort);
		this.#own.abort();
	}
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
		if (/^[a-z][a-z\d+.-]*:/i.test(base) && !/^https?:$/.test(new URL(base).protocol) || /[?#]/.test(base)) {
			throw new TypeError(`${base} is not a URL of http or https without a query and a fragment`);
		}
		this.base = base.replace(/\/+$/, '');
		this.attempts = options.attempts ?? 8;
		this.maxWait = options.maxWait ?? 10_000;
		this.silence = options.silence ?? 45_000;
		this.#headers = options.headers;
		this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
	}

	/** open sends a request once and returns the response, whatever its status code. A redirect that it does not follow is an error. */
	async open(out: Outgoing, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
		// A segment that servers remove: deleting the item ".." would delete what the folder is.
		const segment = /\/(\.{0,2})(?=[/?]|$)/.exec(out.path)?.[1];
		if (segment !== undefined) {
			throw new TypeError(`${out.method} ${out.path}: "${segment}" is not an id or a name`);
		}
		const own = typeof this.#headers === 'function' ? await this.#headers() : this.#headers;
		const content = out.value === undefined ? out.text : JSON.stringify(out.value);
		const init: RequestInit = {
			method: out.method,
			headers: {
				Accept: 'application/json',
				...(content !== undefined && { 'Content-Type': out.media ?? 'application/json' }),
				...own,
				...headers,
			},
			...(content !== undefined && { body: content }),
			...(signal && { signal }),
			// After 301, 302 and 303 fetch sends GET, and the response of that would pass for that of the write.
			redirect: out.method === 'GET' ? 'follow' : 'manual',
		};
		for (let url = this.base + out.path, redirects = 0; ; redirects++) {
			let response: Response;
			try {
				response = await this.#fetch(url, init);
			} catch (cause) {
				if (!signal?.aborted) {
					new Request(url, init); // throws if the URL or a header field is invalid: no connection is lost
				}
				throw lost(out, cause, signal);
			}
			if (response.type !== 'opaqueredirect' && (response.status < 300 || response.status > 399)) {
				return response;
			}
			await response.body?.cancel();
			url = redirected(out, url, response, redirects);
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
		const watch = out.watched ? new Watch(this.silence, signal) : undefined;
		let response: Response, content: string;
		try {
			response = await this.open(out, headers, watch?.signal ?? signal);
			watch?.received();
			content = await response.text().catch((cause: unknown) => {
				throw lost(out, cause, watch?.signal ?? signal);
			});
		} finally {
			watch?.end();
		}
		if (!response.ok) {
			throw new ProblemError(`${out.method} ${out.path}`, response.status, response.headers, content);
		}
		try {
			return { header: response.headers, value: content === '' ? undefined : JSON.parse(content) };
		} catch (cause) {
			const media = response.headers.get('Content-Type') ?? 'unknown type';
			throw new Error(`${out.method} ${out.path}: the response (${media}) is not JSON`, { cause });
		}
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

/**
 * redirected returns the URL to which a request is sent again: that of 307 and 308, which keep the method, on the same host,
 * because another one must not receive the header fields. A browser does not reveal the status code of a redirect.
 */
function redirected(out: Outgoing, url: string, response: Response, redirects: number): string {
	const at = response.headers.get('Location');
	if (at !== null && (response.status === 307 || response.status === 308) && redirects < 10) {
		const from = new URL(url), to = new URL(at, from);
		if (to.hostname === from.hostname && (to.protocol === 'https:' || to.protocol === from.protocol)) {
			return to.href;
		}
	}
	throw new Error(`${out.method} ${out.path}: the ${response.status || 'opaque'} redirect to ${at ?? 'another URL'} is not followed`);
}

/** retryAfter parses Retry-After (RFC 9110 section 10.2.3) to milliseconds. */
function retryAfter(value: string): number {
	if (/^\d+$/.test(value)) {
		return Number(value) * 1000;
	}
	// The format of asctime has no time zone, and is in GMT.
	const at = Date.parse(/ \d{4}$/.test(value) ? value + ' GMT' : value);
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
