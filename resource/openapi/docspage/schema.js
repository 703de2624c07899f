// Schemas as a list of members with types, limits and nested members.
import { make } from '../../httpbody/page/dom.js'
import { encode } from '../../httpbody/page/jsonvalue.js'
import { markdown } from './markdown.js'
import { flatSchema, isNumber, membersOf, nameOf, nullable, typesOf, valueText } from './model.js'
/** @import { Model, Numeric, Schema } from './types' */

// typeText returns the type of a schema in a few words, such as "array of Line".
/**
 * @param {Model} model
 * @param {Schema} schema
 * @returns {string}
 */
export function typeText(model, schema, depth = 0) {
	if (depth > 6) return 'any'
	const name = nameOf(schema)
	if (name && Object.hasOwn(model.schemas, name)) return name
	const s = flatSchema(model, schema), given = model.resolve(schema) ?? {}
	const choices = given.oneOf ?? given.anyOf
	if (choices) {
		return choices.filter(c => c?.type !== 'null').map(c => typeText(model, c, depth + 1)).join(' | ')
	}
	const [type] = typesOf(s)
	if (type === 'array') return `array of ${typeText(model, s.items ?? {}, depth + 1)}`
	if (type === 'object' && !s.properties && typeof s.additionalProperties === 'object') {
		return `map of ${typeText(model, s.additionalProperties, depth + 1)}`
	}
	if (!type) return s.enum || s.const !== undefined ? 'constant' : 'any'
	return s.format && !/^int(64|32)$/.test(s.format) ? `${type} (${s.format})` : s.format ?? type
}

// span returns a range, such as "1 to 500 characters"; '' if it has no limit.
/**
 * @param {Numeric | undefined} low
 * @param {Numeric | undefined} high
 * @param {string} unit
 */
function span(low, high, unit) {
	const withUnit = (/** @type {Numeric} */ n) => `${n} ${n === 1 ? unit : unit && unit + 's'}`
	if (low != null && high != null) {
		return String(low) === String(high) ? withUnit(low) : `${low} to ${withUnit(high)}`
	}
	return low != null ? `at least ${withUnit(low)}` : high != null ? `at most ${withUnit(high)}` : ''
}

/** @param {Schema} s */
export function limitsOf(s) {
	const all = [
		span(s.minLength, s.maxLength, 'character'), span(s.minItems, s.maxItems, 'element'),
		span(s.minProperties, s.maxProperties, 'member'), span(s.minimum, s.maximum, '').trim(),
		isNumber(s.exclusiveMinimum) && `more than ${s.exclusiveMinimum}`,
		isNumber(s.exclusiveMaximum) && `less than ${s.exclusiveMaximum}`,
		s.multipleOf && `multiple of ${s.multipleOf}`, s.uniqueItems && 'unique',
		s.pattern && `matches ${s.pattern}`,
		s.default !== undefined && `default ${encode(s.default)}`,
		s.const !== undefined && `always ${encode(s.const)}`,
	]
	return /** @type {string[]} */ (all.filter(Boolean))
}

/** @param {string} text */
const limitTag = text => make('span', { class: 'limit' }, text)

// facts returns the elements that describe a schema besides its type: limits and accepted values.
/**
 * @param {Model} model
 * @param {Schema} schema
 */
export function facts(model, schema) {
	const s = flatSchema(model, schema)
	const items = typesOf(s)[0] === 'array' ? flatSchema(model, s.items ?? {}) : {}
	const values = s.enum ?? items.enum
	return [
		[...limitsOf(s), ...limitsOf(items).map(l => `each ${l}`)].map(limitTag),
		values && make('span', { class: 'enum' },
			values.map(v => make('code', {}, valueText(v)))),
	]
}

// innerSchema returns the schema of which the members are shown: the schema itself, that of its elements
// or that of its values.
/**
 * @param {Model} model
 * @param {Schema} schema
 * @returns {Schema | null}
 */
function innerSchema(model, schema, depth = 0) {
	if (depth > 6) return null
	const s = flatSchema(model, schema)
	if (s.properties || s.oneOf || s.anyOf) return schema
	if (s.items) return innerSchema(model, s.items, depth + 1)
	if (typeof s.additionalProperties !== 'object') return null
	return innerSchema(model, s.additionalProperties, depth + 1)
}

// schemaView returns the members of a schema. A schema that refers to itself ends with a link.
/**
 * @param {Model} model
 * @param {Schema} schema
 * @param {boolean} [reading] true hides writeOnly members, false those that are readOnly
 * @param {string[]} around the names of the schemas around it, '' for one without a name
 * @returns {HTMLElement}
 */
export function schemaView(model, schema, reading, around = []) {
	const inner = innerSchema(model, schema)
	if (!inner) {
		return make('p', { class: 'lone' }, make('span', { class: 'type' }, typeText(model, schema)), ' ',
			facts(model, schema), markdown(flatSchema(model, schema).description))
	}
	const s = flatSchema(model, inner), within = [...around, nameOf(inner)]
	const choices = s.oneOf ?? s.anyOf
	if (choices && !s.properties) {
		if (around.length > 6) return unseen()
		const open = choices.length < 3 && !around.length
		return make('div', { class: 'choices' }, choices.map((c, i) => make('details', { open },
			make('summary', {}, i ? 'or ' : 'either ', make('span', { class: 'type' }, typeText(model, c))),
			schemaView(model, c, reading, within))))
	}
	const shown = membersOf(model, s, reading)
	return make('ul', { class: 'members' },
		shown.map(([key, p]) => memberRow(model, key, p, !!s.required?.includes(key), reading, within)),
		!shown.length && make('li', { class: 'faint' }, 'No members.'))
}

const unseen = () => make('p', { class: 'faint' }, 'Further members are not shown.')

/**
 * @param {Model} model
 * @param {string} key
 * @param {Schema} schema
 * @param {boolean} required
 * @param {boolean | undefined} reading
 * @param {string[]} around
 */
function memberRow(model, key, schema, required, reading, around) {
	const s = flatSchema(model, schema), nested = innerSchema(model, schema), of = nameOf(nested)
	const members = () => {
		if (!(of && around.includes(of)) && around.length <= 6) {
			return make('details', {}, membersSummary(key), schemaView(model, schema, reading, around))
		}
		if (!Object.hasOwn(model.schemas, of)) return unseen()
		return make('a', { class: 'more', href: `#schema/${encodeURIComponent(of)}` }, `Members of ${of}`)
	}
	return make('li', {},
		make('div', { class: 'member' }, make('code', { class: 'field' }, key),
			make('span', { class: 'type' }, typeText(model, schema)),
			required && make('span', { class: 'required' }, 'required'),
			nullable(s) && limitTag('or null'),
			s.readOnly && reading !== true && limitTag('read only'), s.writeOnly && limitTag('write only'),
			s.deprecated && make('span', { class: 'old' }, 'deprecated'), facts(model, schema)),
		markdown(s.description), nested && members())
}

/** @param {string} name */
export const membersSummary = name =>
	make('summary', {}, 'Members', make('span', { class: 'unseen' }, ` of ${name}`))
