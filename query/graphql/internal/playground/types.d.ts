// Types of the GraphQL page.
import { Token } from '../../../../resource/httpbody/page/types'

export type Kind = 'query' | 'mutation' | 'subscription'

/** What introspection returns of each definition. */
interface Definition {
	name: string
	description?: string | null
	isDeprecated?: boolean
	deprecationReason?: string | null
}

/** An argument, an input field or a variable. Its type is a text such as [Order!]!. */
export interface InputValue extends Definition {
	type: string
	defaultValue?: string | null
	/** A variable without default that must have a value. */
	needed?: boolean
}

export interface Field extends Definition {
	type: string
	parent: string
	args: Map<string, InputValue>
}

export interface Directive extends Definition {
	args: Map<string, InputValue>
	locations: string[]
	isRepeatable?: boolean
}

export interface Type extends Definition {
	kind: string
	specifiedByURL?: string | null
	isOneOf?: boolean | null
	/** The fields of an object type or interface. */
	fields?: Map<string, Field> | null
	inputs: Map<string, InputValue>
	values: Map<string, Definition>
	interfaces?: { name: string }[] | null
	possibleTypes?: { name: string }[] | null
}

export interface Schema {
	description?: string | null
	types: Map<string, Type>
	directives: Map<string, Directive>
	roots: Record<Kind, Type | undefined>
	/** Returns the type that a text such as [Order!]! names. */
	type(ref: string | null | undefined): Type | undefined
	field(parent: Type, name: string): Field | undefined
	/** Returns the possible object types of a composite type. */
	objects(type: Type): string[]
}

/** A reference to a type in the result of introspection. */
export interface TypeRef {
	kind: string
	name: string
	ofType: TypeRef
}

export interface IntrospectedInput extends Definition {
	type: TypeRef
	defaultValue?: string | null
}

/** The result of the introspection query. */
export interface Introspection {
	__schema: {
		description?: string | null
		queryType?: { name: string } | null
		mutationType?: { name: string } | null
		subscriptionType?: { name: string } | null
		types: (Omit<Type, 'fields' | 'inputs' | 'values'> & {
			fields?: (Definition & { type: TypeRef; args: IntrospectedInput[] })[] | null
			inputFields?: IntrospectedInput[] | null
			enumValues?: Definition[] | null
		})[]
		directives: (Omit<Directive, 'args'> & { args: IntrospectedInput[] })[]
	}
}

/** A problem of a text. mild is a warning; syntax prevents formatting. */
export interface Problem {
	s: number
	e: number
	message: string
	mild?: boolean
	syntax?: boolean
}

/** The use of a fragment, with the type that it is used in. */
export interface Spread {
	t: Token
	parent?: Type
}

/** The use of a variable, with the type of its position. */
export interface Use {
	s: number
	e: number
	name: string
	type?: string
	input?: InputValue
}

export interface Variable {
	name: string
	type?: string
	fallback?: string
	s: number
	e: number
}

export interface Operation {
	kind: Kind
	name: string
	s: number
	e: number
	at?: Token
	variables: Map<string, Variable>
	spreads: Spread[]
	uses: Use[]
}

export interface Fragment {
	name: string
	type?: string
	at?: Token
	spreads: Spread[]
	uses: Use[]
}

/** The context of the caret for completions. */
export interface Here extends Context {
	kind: string
	from: number
	to: number
}

export interface Context {
	json?: boolean
	parent?: Type
	inputs?: Map<string, InputValue>
	given?: Set<string>
	type?: string
	fixed?: boolean
	location?: string
}

/** The definition at the caret, which the docs can show. */
export interface Thing {
	type?: string
	parent?: Type
	field?: Field
	input?: InputValue
	value?: Definition
	directive?: Directive
}

/** The result of reading a text. */
export interface Analysis {
	tokens: Token[]
	problems: Problem[]
	operations: Operation[]
	fragments: Map<string, Fragment>
	here: Here | null
	thing: Thing | null
}

/** A completion. A "|" in insert is the position of the caret afterwards. Rank 0 is the best. */
export interface Choice {
	label: string
	insert?: string
	detail?: string
	doc?: string | null
	old?: boolean
	rank?: number
}

/** A response. */
export interface Answer {
	status: number
	ok: boolean
	reason: string
	time: number
	size: number
	text: string
	type: string
}

/** A GraphQL error as a server sends it. Its members may have any type. */
export interface ResponseError {
	message?: unknown
	locations?: unknown
	path?: unknown
	extensions?: { code?: unknown } | null
}
