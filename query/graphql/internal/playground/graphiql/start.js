// GraphiQL asks the address that the page names, which is its own if it names none.
const address = document.querySelector('meta[name=endpoint]').content || location.pathname + location.search
const fetcher = GraphiQL.createFetcher({ url: new URL(address, location.href).href })
ReactDOM.createRoot(document.getElementById('graphiql')).render(React.createElement(GraphiQL, { fetcher }))
