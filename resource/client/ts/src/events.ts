import { LostError } from './send.js';

/** ServerEvent is one event of a stream. data is undefined if the event only sets the id. */
export interface ServerEvent {
	id: string;
	name: string;
	data?: string;
}

/**
 * events parses text/event-stream (WHATWG HTML section 9.2). Unlike EventSource it also yields blocks that only set the id,
 * which move the position of an idle stream. received is called for each part of the content, and retry with the
 * reconnection time that the server asks for, in milliseconds. If the stream fails, it throws a LostError.
 */
export async function* events(
	body: ReadableStream<Uint8Array>, received: () => void, retry: (milliseconds: number) => void,
): AsyncGenerator<ServerEvent, void, void> {
	let id = '', nextID = '', name = '', data: string[] = [];
	for await (const line of lines(body, received)) {
		if (line === '') {
			const moved = nextID !== id;
			id = nextID;
			if (data.length > 0) {
				yield { id, name: name || 'message', data: data.join('\n') };
			} else if (moved) {
				yield { id, name: '' };
			}
			name = '';
			data = [];
			continue;
		}
		const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
		if (field === 'data') {
			data.push(value);
		} else if (field === 'event') {
			name = value;
		} else if (field === 'id' && !value.includes('\0')) {
			nextID = value;
		} else if (field === 'retry' && /^\d+$/.test(value)) {
			retry(Number(value));
		}
	}
}

/** lines yields the lines of UTF-8 text, which end with CR LF, LF or CR. An incomplete last line is discarded. */
async function* lines(body: ReadableStream<Uint8Array>, received: () => void): AsyncGenerator<string, void, void> {
	const reader = body.getReader();
	const decoder = new TextDecoder(); // discards a byte order mark
	let rest = '', afterCR = false;
	try {
		for (;;) {
			const { done, value } = await reader.read().catch((cause: unknown) => {
				throw new LostError('the stream has failed', { cause });
			});
			if (done) {
				return;
			}
			received();
			let text = decoder.decode(value, { stream: true });
			if (text === '') {
				continue;
			}
			if (afterCR && text.startsWith('\n')) {
				text = text.slice(1);
			}
			afterCR = text === '' ? false : text.endsWith('\r');
			const parts = text.split(/\r\n|\n|\r/); // without rest, which may be a large part of an event
			parts[0] = rest + (parts[0] ?? '');
			rest = parts.pop() ?? '';
			yield* parts;
		}
	} finally {
		reader.cancel().catch(() => {}); // the stream may have failed
	}
}
