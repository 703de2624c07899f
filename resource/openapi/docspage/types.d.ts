// Types of the documentation page: OpenAPI documents, as far as the page reads them, and its model.
import { Exact } from '../../httpbody/page/jsonvalue.js'

/** A number of a document, exact if JavaScript would round it or write it differently. */
export type Numeric = number | bigint | Exact

/** An object that may be a reference to another one in the document. */
export type Ref<T> = T & { $ref?: string }

export interface Schema {
	$ref?: string
	type?: string | string[]
	format?: string
	description?: string
	properties?: Record<string, Schema>
	additionalProperties?: boolean | Schema
	items?: Schema
	required?: string[]
	allOf?: Schema[]
	anyOf?: Schema[]
	oneOf?: Schema[]
	enum?: unknown[]
	const?: unknown
	default?: unknown
	example?: unknown
	examples?: unknown[]
	nullable?: boolean
	readOnly?: boolean
	writeOnly?: boolean
	deprecated?: boolean
	minLength?: Numeric
	maxLength?: Numeric
	minItems?: Numeric
	maxItems?: Numeric
	minProperties?: Numeric
	maxProperties?: Numeric
	minimum?: Numeric
	maximum?: Numeric
	exclusiveMinimum?: Numeric | boolean
	exclusiveMaximum?: Numeric | boolean
	multipleOf?: Numeric
	uniqueItems?: boolean
	pattern?: string
}

/** What has examples: a media type or a parameter. */
export interface Exemplified {
	schema?: Schema
	example?: unknown
	examples?: Record<string, Ref<{ value?: unknown; dataValue?: unknown }>>
}

export interface MediaType extends Exemplified {
	itemSchema?: Schema
}

export type Content = Record<string, MediaType>

export interface Parameter extends Exemplified {
	name: string
	in: string
	description?: string
	required?: boolean
	deprecated?: boolean
	style?: string
	explode?: boolean
	content?: Content
}

export interface RequestBody {
	description?: string
	required?: boolean
	content?: Content
}

export interface Response {
	description?: string
	headers?: Record<string, Ref<{ description?: string }>>
	content?: Content
}

export interface SecurityScheme {
	type?: string
	scheme?: string
	in?: string
	name: string
	description?: string
}

export type Security = Record<string, string[]>[]

/** An operation of a document. */
export interface OperationObject {
	operationId?: string
	tags?: string[]
	summary?: string
	description?: string
	deprecated?: boolean
	parameters?: Ref<Parameter>[]
	requestBody?: Ref<RequestBody>
	responses?: Record<string, Ref<Response>>
	security?: Security
}

/** The operations of a path, by method in lower case, or by any method in additionalOperations. */
export type PathItem = Record<string, OperationObject> &
	{ parameters?: Ref<Parameter>[]; additionalOperations?: Record<string, OperationObject> }

export interface Document {
	info: {
		title?: string
		version: string
		description?: string
		license?: { name: string }
		'x-status'?: string
		'x-deprecation'?: string
		'x-sunset'?: string
		'x-successor'?: string
	}
	paths?: Record<string, PathItem>
	tags?: { name: string; description?: string }[]
	servers?: { url: string; description?: string; variables?: Record<string, { default?: string }> }[]
	security?: Security
	components?: {
		schemas?: Record<string, Schema>
		securitySchemes?: Record<string, Ref<SecurityScheme>>
	}
}

/** An operation with its references resolved. */
export interface Operation {
	id: string
	method: string
	path: string
	tag: string
	summary: string
	description: string
	deprecated: boolean
	parameters: Parameter[]
	body?: RequestBody
	responses: (Response & { status: string })[]
	security: Security
}

/** Follows references within the document. */
export type Resolve = <T>(x: T) => T

export interface Tag {
	name: string
	operations: Operation[]
}

/** A document with its operations in the order of the page. */
export interface Model {
	doc: Document
	base: string
	resolve: Resolve
	operations: Operation[]
	tags: Tag[]
	servers: { url: string; description?: string }[]
	schemas: Record<string, Schema>
	schemes: Record<string, Ref<SecurityScheme>>
}

/** The part of a model that follows references. */
export type Resolver = Pick<Model, 'resolve'>

/** The members of a model that the credentials depend on. */
export type Schemes = Pick<Model, 'schemes' | 'resolve'>

/** An input of a form: a parameter, or a member of one. Its name is that in the URL. */
export interface Input {
	p: Parameter
	name: string
	label: string
	schema?: Schema
}

/**
 * The form of an operation, which is kept while other views are shown. sending is the request that it
 * has sent, streams whether its response is a stream.
 */
export interface Form {
	values: Map<string, string>
	server: string
	media: string
	accept: string
	accepts: string[]
	body: string
	file?: File
	answer: HTMLElement
	button: HTMLButtonElement
	sending?: AbortController | null
	streams?: boolean
}

export interface Request {
	method: string
	url: string
	headers: [string, string][]
	media: string
	body?: string
	file?: File
}

/** A row of search results. n is its rank. */
export interface Found {
	n: number
	text: string
	about: string
	href: string
	method?: string
}

/** An entry of the list of documents, which the server writes into the page. */
export interface Source {
	name: string
	url: string
	full?: string
}
