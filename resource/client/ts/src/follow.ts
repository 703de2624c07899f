import { events } from './events.js';
import { ProblemError } from './problem.js';
import { LostError, pause, Watch, type Outgoing, type Sender } from './send.js';

/**
 * Change is one change of a resource. cursor is the position after it: a consumer that stores the cursor with the effect of
 * the change, in one transaction, sees each change once.
 *
 * - created, updated: value is the item after the change
 * - deleted: value has the id only
 * - reset: a new list of all items follows; discard what you have
 * - listed: an item of that list
 * - bookmark: ends a list, and moves the cursor of an idle consumer, so that it does not expire
 */
export type Change<T> =
	| { kind: 'created' | 'updated'; value: T; cursor: string }
	| { kind: 'deleted'; value: Partial<T>; cursor: string }
	| { kind: 'reset' }
	| { kind: 'listed'; value: T }
	| { kind: 'bookmark'; cursor: string };

/** FollowOptions is the last argument of Resource.follow. */
export interface FollowOptions {
	/** cursor is that of the last change that was stored. Default: all items are listed first. */
	cursor?: string;
	signal?: AbortSignal;
}

interface Source<T> {
	sender: Sender;
	stream: Outgoing;
	page(position?: string): Promise<{ items: T[]; next?: string; cursor?: string }>;
}

/** follow implements Resource.follow. */
export async function* follow<T>(source: Source<T>, options: FollowOptions): AsyncGenerator<Change<T>, void, void> {
	const { sender } = source;
	const state = { cursor: options.cursor ?? '', retry: 0 };
	options.signal?.throwIfAborted();
	for (let failures = 0; ;) {
		if (state.cursor === '') {
			for await (const change of listed(source, state)) {
				yield change;
				options.signal?.throwIfAborted();
			}
		}
		try {
			for await (const change of streamed(source, state, options.signal)) {
				failures = 0;
				yield change;
				options.signal?.throwIfAborted();
			}
		} catch (err) {
			options.signal?.throwIfAborted();
			const expired = err instanceof ProblemError && err.kind === 'cursor-expired';
			if (expired) {
				state.cursor = '';
			}
			// The items are listed after a delay, because the next cursor may have expired as well.
			const delay = sender.delay(++failures, expired ? new LostError() : err);
			if (delay === undefined) {
				throw err;
			}
			await pause(Math.max(delay, Math.min(state.retry, sender.maxWait)), options.signal);
		}
	}
}

async function* listed<T>(source: Source<T>, state: { cursor: string }): AsyncGenerator<Change<T>, void, void> {
	yield { kind: 'reset' };
	let cursor: string | undefined;
	let position: string | undefined;
	do {
		const page = await source.page(position);
		cursor ??= page.cursor; // changes after the first page was read follow
		if (cursor === undefined) {
			throw new Error(`${source.stream.path}: the resource has no feed: the response has no Event-Cursor`);
		}
		for (const value of page.items) {
			yield { kind: 'listed', value };
		}
		position = page.next;
	} while (position !== undefined);
	state.cursor = cursor;
	yield { kind: 'bookmark', cursor };
}

/** streamed yields the changes of one stream. It always ends with an error. */
async function* streamed<T>(
	source: Source<T>, state: { cursor: string; retry: number }, signal?: AbortSignal,
): AsyncGenerator<Change<T>, void, void> {
	const { sender, stream } = source;
	const name = `${stream.method} ${stream.path}`;
	const watch = new Watch(sender.silence, signal);
	try {
		const response = await sender.open(stream, { Accept: 'text/event-stream', 'Last-Event-ID': state.cursor }, watch.signal);
		if (response.status !== 200) {
			throw new ProblemError(name, response.status, response.headers, await response.text().catch(() => ''));
		}
		const media = response.headers.get('Content-Type') ?? 'unknown type';
		if (!/^text\/event-stream\s*(;|$)/i.test(media)) {
			throw new Error(`${name}: the response (${media}) is no stream of events`);
		}
		if (!response.body?.getReader) {
			throw new Error(`${name}: the response has no body to read; follow needs a fetch with streams`);
		}
		for await (const event of events(response.body, watch.received, (retry) => { state.retry = retry; })) {
			watch.pause(); // the consumer may take its time
			if (event.data === undefined && event.id === 'expired') {
				throw new ProblemError(name, 410, new Headers({ 'Content-Type': 'application/problem+json' }),
					'{"type":"cursor-expired","title":"Cursor Expired"}');
			}
			state.cursor = event.id;
			yield event.data === undefined
				? { kind: 'bookmark', cursor: event.id }
				: { kind: event.name, value: JSON.parse(event.data), cursor: event.id } as Change<T>;
			watch.received();
		}
		throw new LostError(`${name}: the stream has ended`);
	} finally {
		watch.end();
	}
}
