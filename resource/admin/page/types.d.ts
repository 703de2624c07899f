// Types of the admin page.
import { Children } from '../../httpbody/page/types'

/** The type of a member, an element of an array or an input, as description.go writes it. */
export interface ValueType {
	/** string, integer, number, boolean, object, array, map or any. */
	type: string
	format?: string
	doc?: string
	deprecated?: string
	nullable?: boolean
	required?: boolean
	readOnly?: boolean
	writeOnly?: boolean
	unique?: boolean
	default?: any
	enum?: any[]
	minLength?: number
	maxLength?: number
	minItems?: number
	maxItems?: number
	/** A text, because JavaScript would round large integers. */
	minimum?: string
	maximum?: string
	pattern?: string
	precision?: number
	scale?: number
	/** The members of an object. */
	fields?: Field[]
	/** The type of the elements of an array. */
	items?: ValueType
}

export interface Field extends ValueType {
	name: string
}

export type Operation =
	'list' | 'count' | 'get' | 'create' | 'replace' | 'patch' | 'delete' | 'restore' | 'watch'

export interface Relation {
	name: string
	target: string
	many?: boolean
	paged?: boolean
	/** The member that has the id of the related item. */
	field?: string
	operations?: ('link' | 'unlink')[]
	/** The path of the links of an item, without its id. */
	changes?: string
}

export interface Resource {
	name: string
	doc?: string
	/** The name of the member that is the id. */
	id: string
	fields: Field[]
	relations?: Relation[]
	/** The operators of each member that lists can be filtered by. */
	filter?: Record<string, string[]>
	sort?: string[]
	search?: string[]
	operations: Operation[]
	takesIds?: boolean
	assignsIds?: boolean
	pageSize: number
	maxPageSize: number
}

/** A collection of blobs. If it is listed, a resource has its name. */
export interface Files {
	name: string
	listed?: boolean
	mediaTypes?: string[]
	maxSize: number
	operations: ('get' | 'create' | 'replace' | 'delete')[]
}

export interface Import {
	name: string
	/** The name of the resource. */
	target: string
	atomic?: boolean
}

export interface Command {
	name: string
	doc?: string
	input: Field[]
	/** The name of the resource of its jobs. */
	job?: string
}

/** The content of description.json. */
export interface Description {
	/** Whether the API has idempotency keys. */
	keyed: boolean
	resources: Resource[]
	files: Files[]
	imports: Import[]
	commands: Command[]
}

/** The configuration in the page. */
export interface Config {
	title: string
	base: string
	login?: {
		command: string
		/** The member of the output that is the token. */
		token: string
		fields: { name: string; required?: boolean; secret?: boolean }[]
	}
	logout?: string
}

/** An item of a resource. Its numbers are those of decode. */
export type Item = Record<string, any>

/** An item with its entity tag and its position in the feed. */
export interface Read {
	item: Item
	tag: string | null
	cursor?: string | null
}

/** An error in a problem: a member (RFC 6901), a parameter or a header field, and a text. */
export interface ProblemError {
	pointer?: string
	parameter?: string
	header?: string
	detail?: string
	code?: string
}

/** A problem document (RFC 9457). That of an import has the counts of lines. */
export interface Problem extends Partial<ImportResult> {
	title?: string
	detail?: string
	errors?: ProblemError[]
}

export interface ImportResult {
	created?: number
	replaced?: number
	/** With skipped, the lines after this one that were skipped with it. */
	rejected?: { line: number; problem: Problem; skipped?: number }[]
	rejectedTotal?: number
	skipped?: number
}

/** An error of a request, which may have the status and the problem of the response. */
export interface Failure extends Error {
	status?: number
	problem?: Problem | null
}

/** The memory of a form: its last write, while the outcome of that is unknown, and its idempotency key. */
export interface Attempt {
	write?: string | null
	key?: string
}

export interface Answer {
	status: number
	headers: { get(name: string): string | null }
	/** The decoded JSON, null if there is none. */
	value: any
}

export interface CallOptions {
	/** The operation, for messages. */
	what?: string
	/** The content, as JSON. */
	value?: unknown
	/** The media type of value. Default application/json. */
	type?: string
	headers?: Record<string, string>
	/** Whether neither an idempotency key nor the Authorization field is sent. */
	anonymous?: boolean
	attempt?: Attempt
	/** Aborts the request. */
	signal?: AbortSignal
}

/** The states of a subscription. Expired and refused end it. */
export type StreamState = 'live' | 'lost' | 'expired' | 'refused'

/** A server-sent event. Its type is created, updated or deleted, and its data an item. */
export interface StreamEvent {
	id: string
	type: string
	data: string
}

export interface Subscriber {
	event(event: StreamEvent): unknown
	state(now: StreamState): unknown
}

export interface View {
	node: HTMLElement
	/** The kind and the name of a view that shows other parameters with update. */
	key?: string
	update?(params: URLSearchParams): Promise<void>
	/** Reports whether the user has changed something that is not saved. */
	dirty?: (() => boolean | undefined) | null
	/** Moves the focus to the first control. */
	focus?: (() => void) | null
	/** Is called when the view is left. */
	end?(): void
}

/** A control of a field, or of the members or elements in it. */
export interface Control {
	node: HTMLElement
	/** Returns the value, undefined if the member is absent. */
	read(): any
	/** Returns the control at a path of member names and indexes, or the closest one around it. */
	find(path: string[]): Control
	/** Shows a message at the control. Empty removes it. */
	fault(text: string): void
	focus(): void
}

export interface Form {
	node: HTMLFormElement
	dirty(): boolean
	focus(): void
}

/** Returns the buttons of a row of a list. */
export type RowActions = (item: Item, row: HTMLTableRowElement) => Children

export interface TransferOptions {
	/** The operation, for messages. */
	what: string
	headers: Record<string, string>
	attempt: Attempt
	/** Is called with the numbers of bytes that were handled and of all. */
	progress(step: 'Reading' | 'Sending' | 'Storing', n: number, total: number): void
	/** Aborts the request. */
	signal: AbortSignal
}

declare global {
	interface Window {
		/** Not all browsers have it. */
		showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>
	}
}

/** The state of a list that is shown. */
export interface List {
	resource: Resource
	/** The filters and the order. */
	params: URLSearchParams
	/** The number of the page, from 0, and the cursors of the pages that are known. */
	page: number
	cursors: (string | undefined)[]
	/** The rows of the table by the texts of ids. */
	rows: Map<string, HTMLTableRowElement>
	columns: Field[]
	/** The number of items of the page, and of all if it is known. */
	size: number
	total?: number
	/** How many pages were requested. */
	asked: number
	actions?: RowActions
	table: HTMLTableElement
	live: HTMLElement
	count: HTMLElement
	pages: HTMLElement
	/** The offer to show new items. */
	fresh: HTMLElement
	/** Shows the list with another query. */
	go(query: URLSearchParams): void
	/** Ends the subscription to changes. */
	stop(): void
}
