// Values for readers: the cells of tables and the texts of comparisons.
import { make } from '../../httpbody/page/dom.js'
import { encode, isObject } from '../../httpbody/page/jsonvalue.js'
import { resourceNamed } from './catalog.js'
import { link, plural } from './parts.js'
/** @import { Field, Item, Relation, Resource } from './types' */

// titleOf returns a JSON name in words: createdAt becomes "Created at".
/** @param {string} name */
export function titleOf(name) {
	const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ')
		.replace(/\b[A-Z][a-z]/g, w => w.toLowerCase())
	return words.charAt(0).toUpperCase() + words.slice(1)
}

const when = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' })

// textOf returns a value as text.
/** @param {any} value */
export function textOf(value) {
	if (value === undefined) return ''
	if (value === null) return 'null'
	if (typeof value === 'boolean') return value ? 'yes' : 'no'
	return typeof value === 'object' ? encode(value) : String(value)
}

// shown returns a value of a field as a node. relation is that of the field, if it has one.
/**
 * @param {{ format?: string }} field
 * @param {any} value
 * @param {Relation} [relation]
 */
export function shown(field, value, relation) {
	if (value === undefined) return ''
	if (value === null) return make('span', { class: 'faint' }, 'null')
	if (relation && typeof value !== 'object' && resourceNamed(relation.target)) {
		return link(textOf(value), 'item', relation.target, value)
	}
	if (field.format === 'date-time' && typeof value === 'string' && !isNaN(Date.parse(value))) {
		return make('time', { dateTime: value, title: value }, when.format(new Date(value)))
	}
	if (Array.isArray(value)) {
		return summary(plural(value.length, 'entry').replace('entrys', 'entries'), value)
	}
	if (isObject(value)) return summary('object', value)
	const text = textOf(value)
	return text.length > 120 ? make('span', { title: text }, text.slice(0, 117) + '…') : text
}

// summary shows an array or an object: short ones as they are.
/**
 * @param {string} name
 * @param {unknown} value
 */
function summary(name, value) {
	const text = encode(value)
	return text.length <= 24 ? make('code', {}, text) : make('span', { title: text }, name)
}

// relationOf returns the relation to one item that a field has the id of.
/**
 * @param {Resource} resource
 * @param {Field} field
 */
export const relationOf = (resource, field) =>
	resource.relations?.find(r => !r.many && r.field === field.name)

// isLabel reports whether a member can name an item for readers.
/**
 * @param {Resource} resource
 * @param {Field} f
 */
export const isLabel = (resource, f) =>
	f.type === 'string' && f.name !== resource.id && !f.format?.startsWith('date') && !f.writeOnly

// nameOf returns a text for an item in a list of links: its id, and the first text that it has.
/**
 * @param {Resource} resource
 * @param {Item} item
 */
export function nameOf(resource, item) {
	const field = resource.fields.find(f => isLabel(resource, f) && item[f.name])
	const id = textOf(item[resource.id])
	return field ? `${id}: ${textOf(item[field.name]).slice(0, 60)}` : id
}

// singular returns the noun for one item of a resource: orders becomes order.
/** @param {string} name */
export const singular = name =>
	name.endsWith('ies') ? name.slice(0, -3) + 'y' : name.replace(/([^s])s$/, '$1')
