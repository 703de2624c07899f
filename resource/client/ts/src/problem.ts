/** Violation is an invalid part of a request. */
export interface Violation {
	pointer?: string;
	parameter?: string;
	header?: string;
	code: string;
	detail?: string;
}

/** ProblemError is an error response, with its problem details (RFC 9457) if it has them. */
export class ProblemError extends Error {
	override readonly name = 'ProblemError';
	readonly status: number;
	/** type is the URI of the problem type, or about:blank. */
	readonly type: string;
	readonly title: string;
	readonly detail: string;
	readonly instance: string;
	readonly errors: readonly Violation[];
	readonly header: Headers;
	/** details has all members of the problem details. */
	readonly details: Readonly<Record<string, unknown>>;

	constructor(request: string, status: number, header: Headers, content: string) {
		const details = parse(header, content);
		const text = (name: string) => (typeof details[name] === 'string' ? details[name] : '');
		super(`${request}: ${status} ${text('detail') || text('title')}`.trimEnd());
		this.status = status;
		this.header = header;
		this.details = details;
		this.type = text('type') || 'about:blank';
		this.title = text('title');
		this.detail = text('detail');
		this.instance = text('instance');
		this.errors = Array.isArray(details['errors']) ? details['errors'] as Violation[] : [];
	}

	/** kind is the last segment of the type, such as not-found. */
	get kind(): string {
		return this.type.slice(this.type.lastIndexOf('/') + 1);
	}
}

function parse(header: Headers, content: string): Record<string, unknown> {
	if (!/^application\/problem\+json\s*(;|$)/i.test(header.get('Content-Type') ?? '')) {
		return {};
	}
	try {
		const details: unknown = JSON.parse(content);
		return typeof details === 'object' && details !== null ? details as Record<string, unknown> : {};
	} catch {
		return {};
	}
}
