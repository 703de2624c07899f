type Members = Record<string, unknown>;

const isObject = (v: unknown): v is Members => typeof v === 'object' && v !== null && !Array.isArray(v);

/** difference returns the merge patch (RFC 7396) that changes one object into another. */
export function difference(was: object, is: object): Members {
	const before = was as Members;
	const after = JSON.parse(JSON.stringify(is)) as Members; // as it is sent
	const patch: Members = {};
	for (const name of Object.keys(before)) {
		if (!Object.hasOwn(after, name)) {
			set(patch, name, null);
		}
	}
	for (const [name, value] of Object.entries(after)) {
		const old = Object.hasOwn(before, name) ? before[name] : undefined;
		if (isObject(old) && isObject(value)) {
			const inner = difference(old, value);
			if (Object.keys(inner).length > 0) {
				set(patch, name, inner);
			}
		} else if (old === undefined || !equal(old, value)) {
			set(patch, name, value);
		}
	}
	return patch;
}

/** set also sets a member named __proto__. */
function set(object: Members, name: string, value: unknown) {
	Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}

function equal(a: unknown, b: unknown): boolean {
	if (Array.isArray(a) && Array.isArray(b)) {
		return a.length === b.length && a.every((v, i) => equal(v, b[i]));
	}
	if (isObject(a) && isObject(b)) {
		const names = Object.keys(a);
		return names.length === Object.keys(b).length && names.every((n) => Object.hasOwn(b, n) && equal(a[n], b[n]));
	}
	return a === b;
}
