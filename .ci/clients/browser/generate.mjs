// Documents that a schema admits, the same each time, and the like with one token wrong.
import { getNamedType, getNullableType, isAbstractType, isEnumType, isInputObjectType, isLeafType, isListType, isNonNullType, isRequiredArgument, isRequiredInputField, isUnionType, Lexer, Source } from 'graphql'

let state = 1
const random = n => {
	state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
	return (state >> 8) % n
}
const one = list => list[random(list.length)]

export function* generated(schema, count) {
	for (let n = 0; n < count; n++) yield document(schema)
}

function document(schema) {
	const variables = new Map(), fragments = []
	const scope = { schema, variables, fragments }
	const kind = one(['query', 'query', 'query', 'mutation']), root = kind === 'query' ? schema.getQueryType() : schema.getMutationType()
	const body = selections(scope, root, 0)
	const declared = [...variables].map(([name, type]) => `$${name}: ${type}`).join(random(2) ? ', ' : '\n')
	const head = declared ? `${kind} Q${random(9)}(${declared}) ` : kind === 'query' && !random(2) ? '' : kind + ' '
	return [head + body, ...fragments].join('\n')
}

function selections(scope, type, depth) {
	const chosen = []
	if (isUnionType(type)) chosen.push('__typename')
	const fields = isUnionType(type) ? [] : Object.values(type.getFields()).filter(f => depth < 3 || isLeafType(getNamedType(f.type)))
	for (let n = 1 + random(4); n > 0 && fields.length; n--) chosen.push(field(scope, one(fields), depth))
	if (!chosen.length || !random(6)) chosen.push('__typename')
	if (depth < 3 && !random(4)) {
		const inner = isAbstractType(type) ? one(scope.schema.getPossibleTypes(type)) : type
		chosen.push(`... on ${inner.name}${directive(scope)} ${selections(scope, inner, depth + 1)}`)
	}
	if (depth < 3 && !random(5) && scope.fragments.length < 4) {
		const name = `F${scope.fragments.length}`, at = scope.fragments.length
		scope.fragments.push('')
		chosen.push(`...${name}${directive(scope)}`)
		scope.fragments[at] = `fragment ${name} on ${type.name} ${selections(scope, type, depth + 1)}`
	}
	return `{${random(2) ? ' ' : '\n'}${chosen.join(random(3) ? ' ' : ' # so\n')}${random(2) ? ' ' : '\n'}}`
}

function field(scope, f, depth) {
	const args = f.args.filter(a => isRequiredArgument(a) || !random(3)).map(a => `${a.name}: ${value(scope, a.type, 0)}`)
	const alias = args.length || !random(3) ? `a${random(1e6)}: ` : ''
	const type = getNamedType(f.type)
	return `${alias}${f.name}${args.length ? `(${args.join(', ')})` : ''}${directive(scope)}${isLeafType(type) ? '' : ' ' + selections(scope, type, depth + 1)}`
}

const directive = scope => random(8) ? '' : ` @${one(['skip', 'include'])}(if: ${value(scope, scope.schema.getType('Boolean'), 0, true)})`

function value(scope, type, depth, required = isNonNullType(type)) {
	if (!random(6)) {
		const name = `v${scope.variables.size}`
		scope.variables.set(name, String(type) + (required && !isNonNullType(type) ? '!' : ''))
		return '$' + name
	}
	return literal(scope, type, depth, required)
}

function literal(scope, type, depth, required) {
	if (!required && !random(8)) return 'null'
	const bare = getNullableType(type)
	if (isListType(bare)) return random(4) ? `[${Array.from({ length: random(3) }, () => literal(scope, bare.ofType, depth, isNonNullType(bare.ofType))).join(' ')}]` : literal(scope, bare.ofType, depth, isNonNullType(bare.ofType))
	if (isEnumType(bare)) return one(bare.getValues()).name
	if (isInputObjectType(bare)) {
		const all = Object.values(bare.getFields())
		const fields = bare.isOneOf ? [one(all.filter(f => depth < 2 || isLeafType(getNamedType(f.type))))] : all.filter(f => isRequiredInputField(f) || (depth < 2 && !random(3)))
		return `{${fields.map(f => `${f.name}: ${literal(scope, f.type, depth + 1, isNonNullType(f.type) || bare.isOneOf)}`).join(', ')}}`
	}
	return { Int: '-7', Float: one(['1', '2.5e3']), String: one(['"x"', '"""a "b" c"""']), ID: one(['"1"', '2']), Boolean: one(['true', 'false']) }[bare.name] ?? one(['{x: [1 "y"]}', 'FREE', '1.5'])
}

// mutated takes a token out of a document, puts it there twice, or puts another in its place.
export function mutated(text) {
	const lexer = new Lexer(new Source(text)), tokens = []
	while (lexer.advance().kind !== '<EOF>') tokens.push(lexer.token)
	const t = one(tokens), pool = ['{', '}', '(', ')', '[', ']', ':', '$', '@', '!', '...', 'on', 'null', 'name', 'Dog', 'RED', '1', '"x"', 'fragment', 'query', 'nothing']
	const put = one(['', text.slice(t.start, t.end) + ' ' + text.slice(t.start, t.end), one(pool), one(pool)])
	return `${text.slice(0, t.start)} ${put} ${text.slice(t.end)}`
}
