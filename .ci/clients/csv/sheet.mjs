// Reads CSV with a spreadsheet library, stores it as a workbook, reads that again, and compares each cell with the JSON of the
// same items: node sheet.mjs sample.csv sample.jsonl FOLDER. The texts that would be formulas begin with an apostrophe.
import fs from 'node:fs'
import ExcelJS from 'exceljs'

const [, , csvFile, jsonFile, folder] = process.argv
const items = fs.readFileSync(jsonFile, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line))
const columns = Object.keys(items[0])

function cellOf(value) {
	if (value === null) return ''
	if (typeof value === 'object') return JSON.stringify(value)
	if (typeof value === 'string' && /^'*[=+\-@\t\r\n]/.test(value)) return `'${value}`
	return String(value)
}

// compare checks a worksheet. A workbook has no carriage returns in its cells.
function compare(name, sheet, plain) {
	const header = columns.map((_, i) => sheet.getRow(1).getCell(i + 1).value)
	if (JSON.stringify(header) !== JSON.stringify(columns)) throw new Error(`${name}: the header is ${header}`)
	if (sheet.rowCount !== items.length + 1) throw new Error(`${name}: ${sheet.rowCount} rows, want ${items.length + 1}`)
	let cells = 0
	items.forEach((item, row) => {
		columns.forEach((column, i) => {
			const cell = sheet.getRow(row + 2).getCell(i + 1)
			if (cell.type === ExcelJS.ValueType.Formula) throw new Error(`${name}: ${column} of row ${row + 2} is a formula`)
			const got = cell.value === null ? '' : String(cell.value)
			const want = cellOf(item[column])
			if (plain(got) !== plain(want)) {
				throw new Error(`${name}: ${column} of row ${row + 2} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
			}
			cells++
		})
	})
	console.log(`${name}: ${items.length} rows, ${cells} cells are equal`)
}

const book = new ExcelJS.Workbook()
const sheet = await book.csv.readFile(csvFile, { map: (value) => value })
compare('CSV', sheet, (text) => text)
const file = `${folder}/sample.xlsx`
await book.xlsx.writeFile(file)
const again = new ExcelJS.Workbook()
await again.xlsx.readFile(file)
compare('workbook', again.worksheets[0], (text) => text.replaceAll('\r', ''))
