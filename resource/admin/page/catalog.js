// The description of the API.
/** @import { Description, Operation, Resource } from './types' */

/** @returns {Description} */
const empty = () => ({ keyed: false, resources: [], files: [], imports: [], commands: [] })

// catalog is the description of what the API serves: description.json.
export let catalog = empty()

// setCatalog sets the description, by default to that of an API that serves nothing.
export function setCatalog(description = empty()) { catalog = description }

/** @param {string | undefined} name */
export const resourceNamed = name => catalog.resources.find(r => r.name === name)

// plainResources returns the resources that are not the metadata of files.
export const plainResources = () => catalog.resources.filter(r => !catalog.files.some(f => f.name === r.name))

// can reports whether the API offers an operation of a resource.
/**
 * @param {Resource} resource
 * @param {Operation} operation
 */
export const can = (resource, operation) => resource.operations.includes(operation)

// pathOf returns the path of a resource or of an item.
/**
 * @param {string} name
 * @param {string | number} [id]
 */
export const pathOf = (name, id) => '/' + name + (id === undefined ? '' : '/' + encodeURIComponent(id))

// commandsOf returns the commands of an area, such as a resource. Without an area they are those of no
// resource.
/** @param {string} [area] */
export const commandsOf = area => catalog.commands.filter(({ name }) =>
	area ? name.startsWith(area + '/') : !resourceNamed(name.split('/')[0]))
