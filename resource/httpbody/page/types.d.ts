// Types of the modules that pages share.

/** A token of a text: its kind, class, offsets and source. */
export interface Token {
	k: string
	c?: string
	s: number
	e: number
	v: string
}

/** A child of make: text, an element, or a list of these. */
export type Children = string | number | bigint | Node | null | undefined | false | readonly Children[]

/** Properties of make: members, listeners and attributes. */
export type Properties<K extends keyof HTMLElementTagNameMap> = {
	[P in keyof HTMLElementTagNameMap[K] as P extends `on${string}` ? never : P]?:
		HTMLElementTagNameMap[K][P] | null
} & {
	[E in keyof HTMLElementEventMap as `on${E}`]?:
		(event: HTMLElementEventMap[E] & { currentTarget: HTMLElementTagNameMap[K] }) => unknown
} & { class?: string | null; role?: string; for?: string; [attribute: `${string}-${string}`]: unknown }

export type StorageName = 'localStorage' | 'sessionStorage'

declare global {
	// Access to the source text of numbers, which a browser may not have.
	interface JSON {
		parse(text: string, reviver: (key: string, value: any, context: { source: string }) => any): any
		rawJSON?(text: string): unknown
	}
}
