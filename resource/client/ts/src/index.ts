// A client of HTTP APIs that are served with Stoa, for browsers and Node.js. README.md has an example.

export { ProblemError, type Violation } from './problem.js';
import { difference } from './merge.js';
import { Sender, type ClientOptions, type Sent, type WriteOptions } from './send.js';
import { follow, type Change, type FollowOptions } from './follow.js';
export type { Change, ClientOptions, FollowOptions, WriteOptions };

/** Item is an item and its entity tag. */
export interface Item<T> {
	value: T;
	/** id is the last segment of the item's path. */
	id: string;
	/** tag is the entity tag of this state of the item, with its quotes. */
	tag: string;
	/** replayed means that an earlier request with the same key has made the write. */
	replayed: boolean;
}

/** Page is a part of a list. */
export interface Page<T> {
	items: T[];
	/** next is the position of the next page. It is undefined for the last page. */
	next?: string;
	/** cursor is the position in the feed of changes at which the page was read, if the resource has a feed. */
	cursor?: string;
}

type Value = string | number | boolean | Date;

/**
 * Query selects items: filter is a tree such as {or: [{status: {eq: 'paid'}}, {total: {gte: 100}}]}, and all other members
 * are parameters of the list, such as sort: '-total', limit: 20, or 'total.gte': 100. A list of values is joined by commas.
 * An empty list is possible for in and notIn of a field. A Date is sent in the format of toISOString.
 */
export interface Query {
	filter?: object;
	[parameter: string]: Value | readonly Value[] | object | undefined;
}

/** ReadOptions is the last argument of reads. */
export interface ReadOptions {
	signal?: AbortSignal;
}

/** Patch is a merge patch (RFC 7396): the members of an item to change, with null for those to remove. */
export type Patch<T> = { [K in keyof T]?: PatchedValue<T[K]> | null };
type PatchedValue<V> = V extends readonly unknown[] ? V : V extends object ? Patch<V> : V;

/** UpdateOptions is the last argument of Resource.update. */
export interface UpdateOptions extends ReadOptions {
	key?: string;
}

/** Client sends requests to the API at a base URL, such as https://shop.example.com/v2. */
export class Client {
	readonly #sender: Sender;

	constructor(base: string, options: ClientOptions = {}) {
		this.#sender = new Sender(base, options);
	}

	/** resource returns the resource with a name, such as orders. */
	resource<T extends object>(name: string): Resource<T> {
		return new Resource<T>(this.#sender, '/' + name.replace(/^\/+|\/+$/g, ''));
	}

	/** call sends input to the command with a name, such as orders/cancel-stale, and returns its output. */
	async call<Output = unknown>(name: string, input: object = {}, options: UpdateOptions = {}): Promise<Output> {
		const sent = await this.#sender.send({ method: 'POST', path: '/' + name, value: input, write: true }, options);
		return sent.value as Output;
	}
}

/** Resource reads and writes the items of one resource. Client.resource makes it. */
export class Resource<T extends object> {
	readonly #sender: Sender;
	readonly #path: string;

	/** @internal */
	constructor(sender: Sender, path: string) {
		this.#sender = sender;
		this.#path = path;
	}

	#item(id: string | number): string {
		return this.#path + '/' + encodeURIComponent(id);
	}

	/** get returns an item. */
	async get(id: string | number, options: ReadOptions = {}): Promise<Item<T>> {
		return decode(await this.#sender.send({ method: 'GET', path: this.#item(id) }, options), String(id));
	}

	/** list yields the items of all pages. The parameter limit is the size of a page. */
	async *list(query: Query = {}, options: ReadOptions = {}): AsyncGenerator<T, void, void> {
		let position: string | undefined;
		do {
			const page = await this.page(query, position, options);
			yield* page.items;
			position = page.next;
		} while (position !== undefined);
	}

	/** page returns the page of a list that starts at a position, the member next of the page before. */
	async page(query: Query = {}, position?: string, options: ReadOptions = {}): Promise<Page<T>> {
		return this.#page(query, position, options, false);
	}

	async #page(query: Query, position: string | undefined, options: ReadOptions, watched: boolean): Promise<Page<T>> {
		const list = listing(this.#path, position === undefined ? query : { ...query, after: position });
		const sent = await this.#sender.send({ ...list, watched }, options);
		const { items, next } = sent.value as Page<T>;
		const cursor = sent.header.get('Event-Cursor');
		return { items, ...(next && { next }), ...(cursor && { cursor }) };
	}

	/** create creates an item and returns it as the server has stored it. */
	async create(value: Partial<T>, options: WriteOptions = {}): Promise<Item<T>> {
		const sent = await this.#sender.send({ method: 'POST', path: this.#path, value, write: true }, options);
		const location = sent.header.get('Location') ?? '';
		return decode(sent, decodeURIComponent(location.slice(location.lastIndexOf('/') + 1)));
	}

	/**
	 * replace replaces an item. With options.tag the item must still have that entity tag; otherwise it throws a
	 * ProblemError with status 412.
	 */
	async replace(id: string | number, value: T, options: WriteOptions = {}): Promise<Item<T>> {
		const sent = await this.#sender.send({ method: 'PUT', path: this.#item(id), value, write: true }, options);
		return decode(sent, String(id), value);
	}

	/**
	 * update changes an item. It reads the item, calls change with a copy, and sends the members that change has changed, on
	 * the condition that the item is unchanged. If another client was faster, it starts again, so change may be called
	 * several times. change may return a new value instead of changing its argument.
	 */
	async update(id: string | number, change: (value: T) => T | void, options: UpdateOptions = {}): Promise<Item<T>> {
		return this.#sender.again(412, options.signal, async () => {
			const item = await this.get(id, options);
			const draft = structuredClone(item.value);
			const changed = change(draft) ?? draft;
			const patch = difference(item.value, changed);
			if (Object.keys(patch).length === 0) {
				return item;
			}
			return this.#patch(id, patch, { ...options, tag: item.tag }, changed);
		});
	}

	/**
	 * patch changes members of an item on the condition that it still has the tag options.tag; otherwise it throws a
	 * ProblemError with status 412. It is for a caller that holds the tag of the state which its user has seen.
	 */
	async patch(id: string | number, patch: Patch<T>, options: WriteOptions = {}): Promise<Item<T>> {
		return this.#patch(id, patch, options);
	}

	async #patch(id: string | number, value: object, options: WriteOptions, changed?: T): Promise<Item<T>> {
		const sent = await this.#sender.send({
			method: 'PATCH', path: this.#item(id), value, media: 'application/merge-patch+json', write: true,
		}, options);
		return decode(sent, String(id), changed);
	}

	/** delete deletes an item. With options.tag the item must still have that entity tag. */
	async delete(id: string | number, options: WriteOptions = {}): Promise<void> {
		await this.#sender.send({ method: 'DELETE', path: this.#item(id), write: true }, options);
	}

	/**
	 * follow yields the changes after options.cursor, until options.signal aborts or the server refuses. It connects again
	 * when the stream ends. Without a cursor, or if it is too old, it first yields a reset, a listed for each item and a
	 * bookmark. A response that is no stream of events is an error.
	 */
	follow(query: Query = {}, options: FollowOptions = {}): AsyncGenerator<Change<T>, void, void> {
		return follow<T>({
			sender: this.#sender,
			stream: listing(this.#path, query),
			page: (position) => this.#page(query, position, options, true),
		}, options);
	}
}

function decode<T>(sent: Sent, id: string, value?: T): Item<T> {
	return {
		value: (sent.value ?? value) as T,
		id,
		tag: sent.header.get('ETag') ?? '',
		replayed: sent.header.get('Idempotency-Replayed') === 'true',
	};
}

/** listing is the request of a list: GET, or QUERY (RFC 10008) if the URL would be long. */
function listing(path: string, query: Query) {
	const parameters = new URLSearchParams();
	const { filter, ...others } = query;
	const conditions: object[] = filter ? [filter] : [];
	for (const [name, value] of Object.entries(others)) {
		if (Array.isArray(value) && value.length === 0) { // its text would be that of a list of one empty value
			const [, field = '', op = ''] = /^([^.]+)\.(in|notIn)$/.exec(name) ?? [];
			if (field === '') {
				throw new TypeError(`${name} is an empty list; state the condition in filter`);
			}
			conditions.push({ [field]: { [op]: [] } });
		} else if (Array.isArray(value)) {
			parameters.set(name, value.map((v) => parameterText(v).replace(/[\\,]/g, '\\$&')).join(','));
		} else if (value !== undefined) {
			parameters.set(name, parameterText(value));
		}
	}
	if (conditions.length > 0) {
		parameters.set('filter', parameterText(conditions.length > 1 ? { and: conditions } : conditions[0]));
	}
	const text = parameters.toString();
	if (path.length + 1 + text.length > 4096) {
		return { method: 'QUERY', path, text, media: 'application/x-www-form-urlencoded' };
	}
	return { method: 'GET', path: text === '' ? path : path + '?' + text };
}

/** parameterText is the text of a parameter: JSON, but without quotes if that is a string, as for a Date. */
function parameterText(value: unknown): string {
	const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
	return typeof value === 'object' && text.startsWith('"') ? JSON.parse(text) as string : text;
}
