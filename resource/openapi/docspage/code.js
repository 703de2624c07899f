// Schemas as types of TypeScript and Go.
import { encode } from '../../httpbody/page/jsonvalue.js'
import { flatSchema, membersOf, nullable, typesOf } from './model.js'
/** @import { Model, Schema } from './types' */

/**
 * @param {Model} model
 * @param {Schema} schema
 * @param {boolean} reading
 * @returns {string}
 */
export function tsType(model, schema, reading, indent = '', depth = 0) {
	if (depth > 9) return 'unknown'
	const s = flatSchema(model, schema), or = nullable(s) ? ' | null' : ''
	const values = s.enum ?? (s.const !== undefined ? [s.const] : null)
	if (values) return values.map(v => encode(v)).join(' | ') + or
	const of = (/** @type {Schema} */ x, inner = indent) => tsType(model, x, reading, inner, depth + 1)
	const choices = s.oneOf ?? s.anyOf
	if (choices) return [...new Set(choices.map(c => of(c)))].join(' | ')
	switch (typesOf(s)[0]) {
	case 'string': return 'string' + or
	case 'integer': case 'number': return 'number' + or
	case 'boolean': return 'boolean' + or
	case 'array': {
		const each = of(s.items ?? {})
		return (/[|]/.test(each.replace(/\{[^]*\}/, '')) ? `(${each})[]` : `${each}[]`) + or
	}
	case 'object': {
		const all = membersOf(model, s, reading)
		if (!all.length || depth > 4) {
			const value = typeof s.additionalProperties === 'object' ? of(s.additionalProperties) : 'unknown'
			return `Record<string, ${value}>${or}`
		}
		const lines = all.map(([k, p]) => {
			const key = /^[A-Za-z_$][\w$]*$/.test(k) ? k : JSON.stringify(k)
			return `${indent}  ${key}${s.required?.includes(k) ? '' : '?'}: ${of(p, indent + '  ')};\n`
		})
		return `{\n${lines.join('')}${indent}}${or}`
	}
	}
	return 'unknown'
}

/**
 * @param {Model} model
 * @param {Schema} schema
 * @returns {string}
 */
export function goType(model, schema, indent = '', depth = 0) {
	if (depth > 9) return 'any'
	const s = flatSchema(model, schema), to = nullable(s) ? '*' : ''
	switch (typesOf(s)[0]) {
	case 'string': return to + (s.format === 'date-time' ? 'time.Time' : 'string')
	case 'integer': return to + (['int32', 'uint32', 'uint64'].includes(s.format ?? '') ? s.format : 'int64')
	case 'number': return to + 'float64'
	case 'boolean': return to + 'bool'
	case 'array': return '[]' + goType(model, s.items ?? {}, indent, depth + 1)
	case 'object': {
		const all = membersOf(model, s, true).filter(([k]) => /^\w+$/.test(k))
		if (!all.length || depth > 4) return 'map[string]any'
		const names = all.map(([k]) => goName(k)), wide = Math.max(...names.map(n => n.length))
		const lines = all.map(([k, p], i) => {
			const type = goType(model, p, indent + '\t', depth + 1)
			return `${indent}\t${names[i].padEnd(wide)} ${type} \`json:"${k}"\`\n`
		})
		return `struct {\n${lines.join('')}${indent}}`
	}
	}
	return 'any'
}

// goName returns an exported Go name.
/** @param {string} name */
export const goName = name => name.split(/[^A-Za-z0-9]+/).filter(Boolean)
	.map(w => w[0].toUpperCase() + w.slice(1)).join('')
	.replace(/^\d/, 'X$&').replace(/(Id|Url)(?=[A-Z]|$)/g, x => x.toUpperCase())
