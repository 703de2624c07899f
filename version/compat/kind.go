package compat

// Kind names what changed. Whether a change breaks clients depends on its kind only. Values are
// stable and appear in the list of versions.
type Kind string

// The kinds of changes to REST. Request kinds concern parameters and request bodies, response kinds
// header fields and response bodies.
const (
	operationRemoved    Kind = "operation-removed"
	operationAdded      Kind = "operation-added"
	operationDeprecated Kind = "operation-deprecated"

	parameterRemoved         Kind = "parameter-removed"
	parameterAdded           Kind = "parameter-added"
	parameterRequired        Kind = "parameter-required"
	parameterOptional        Kind = "parameter-optional"
	parameterEncodingChanged Kind = "parameter-encoding-changed"

	requestBodyRequired     Kind = "request-body-required"
	requestBodyOptional     Kind = "request-body-optional"
	requestMediaTypeRemoved Kind = "request-media-type-removed"
	requestMediaTypeAdded   Kind = "request-media-type-added"
	requestMemberRemoved    Kind = "request-member-removed"
	requestMemberAdded      Kind = "request-member-added"
	requestMemberRequired   Kind = "request-member-required"
	requestMemberOptional   Kind = "request-member-optional"
	requestTypeNarrowed     Kind = "request-type-narrowed"
	requestTypeWidened      Kind = "request-type-widened"
	requestEnumNarrowed     Kind = "request-enum-narrowed"
	requestEnumWidened      Kind = "request-enum-widened"
	requestLimitNarrowed    Kind = "request-limit-narrowed"
	requestLimitWidened     Kind = "request-limit-widened"
	requestSyntaxNarrowed   Kind = "request-syntax-narrowed"
	requestSyntaxWidened    Kind = "request-syntax-widened"
	defaultChanged          Kind = "default-changed"

	responseStatusRemoved    Kind = "response-status-removed"
	responseStatusAdded      Kind = "response-status-added"
	responseMediaTypeRemoved Kind = "response-media-type-removed"
	responseMediaTypeAdded   Kind = "response-media-type-added"
	responseMemberRemoved    Kind = "response-member-removed"
	responseMemberAdded      Kind = "response-member-added"
	responseMemberOptional   Kind = "response-member-optional"
	responseMemberRequired   Kind = "response-member-required"
	responseTypeWidened      Kind = "response-type-widened"
	responseTypeNarrowed     Kind = "response-type-narrowed"
	responseEnumWidened      Kind = "response-enum-widened"
	responseEnumNarrowed     Kind = "response-enum-narrowed"
	responseLimitWidened     Kind = "response-limit-widened"
	responseLimitNarrowed    Kind = "response-limit-narrowed"
	responseSyntaxWidened    Kind = "response-syntax-widened"
	responseSyntaxNarrowed   Kind = "response-syntax-narrowed"
	headerRemoved            Kind = "header-removed"
	headerAdded              Kind = "header-added"
	headerOptional           Kind = "header-optional"
	headerRequired           Kind = "header-required"
	headerValueRemoved       Kind = "header-value-removed"
	headerValueAdded         Kind = "header-value-added"
	problemRemoved           Kind = "problem-removed"
	problemAdded             Kind = "problem-added"
	statusChanged            Kind = "status-changed"
	problemChanged           Kind = "problem-changed"
	orderChanged             Kind = "order-changed"

	securityAdded   Kind = "security-added"
	securityRemoved Kind = "security-removed"
)

// The kinds of changes to GraphQL.
const (
	typeRemoved              Kind = "type-removed"
	typeAdded                Kind = "type-added"
	typeChanged              Kind = "type-changed"
	fieldRemoved             Kind = "field-removed"
	fieldAdded               Kind = "field-added"
	fieldTypeNarrowed        Kind = "field-type-narrowed"
	fieldTypeChanged         Kind = "field-type-changed"
	fieldDeprecated          Kind = "field-deprecated"
	argumentRemoved          Kind = "argument-removed"
	argumentAdded            Kind = "argument-added"
	argumentRequired         Kind = "argument-required"
	argumentTypeWidened      Kind = "argument-type-widened"
	argumentTypeChanged      Kind = "argument-type-changed"
	argumentDefaultChanged   Kind = "argument-default-changed"
	inputFieldRemoved        Kind = "input-field-removed"
	inputFieldAdded          Kind = "input-field-added"
	inputFieldRequired       Kind = "input-field-required"
	inputFieldTypeWidened    Kind = "input-field-type-widened"
	inputFieldTypeChanged    Kind = "input-field-type-changed"
	inputFieldDefaultChanged Kind = "input-field-default-changed"
	enumValueRemoved         Kind = "enum-value-removed"
	enumValueAdded           Kind = "enum-value-added"
	inputEnumValueAdded      Kind = "input-enum-value-added"
	unionMemberRemoved       Kind = "union-member-removed"
	unionMemberAdded         Kind = "union-member-added"
	interfaceRemoved         Kind = "interface-removed"
	interfaceAdded           Kind = "interface-added"
	directiveRemoved         Kind = "directive-removed"
	directiveAdded           Kind = "directive-added"
	directiveNarrowed        Kind = "directive-narrowed"
	directiveWidened         Kind = "directive-widened"
	operationTypeRemoved     Kind = "operation-type-removed"
	operationTypeAdded       Kind = "operation-type-added"
)

// The kinds of changes to a contract as a whole.
const (
	partRemoved   Kind = "part-removed"
	partAdded     Kind = "part-added"
	sunsetEarlier Kind = "sunset-earlier"
)

// kindInfo is a row of the table of kinds.
type kindInfo struct {
	kind     Kind
	breaking bool
	meaning  string
}

// kindTable is the complete list of changes, in the order of the documentation.
var kindTable = []kindInfo{
	{operationRemoved, true, "A path or one of its methods was removed."},
	{operationAdded, false, "A path or method was added."},
	{operationDeprecated, false, "An operation was marked as deprecated, or no longer is."},
	{parameterRemoved, true, "A parameter was removed; requests with it are rejected."},
	{parameterAdded, false, "An optional parameter was added."},
	{parameterRequired, true, "A required parameter was added, or an optional one became required."},
	{parameterOptional, false, "A required parameter became optional."},
	{parameterEncodingChanged, true, "The style of a parameter changed, such as commas for repetition."},
	{requestBodyRequired, true, "A request body became required."},
	{requestBodyOptional, false, "A request body became optional, or is accepted where there was none."},
	{requestMediaTypeRemoved, true, "A Content-Type is no longer accepted."},
	{requestMediaTypeAdded, false, "A further Content-Type is accepted."},
	{requestMemberRemoved, true, "A member of a request body was removed or became read-only."},
	{requestMemberAdded, false, "An optional member of a request body was added."},
	{requestMemberRequired, true, "A required member was added, or an optional one became required."},
	{requestMemberOptional, false, "A required member of a request body became optional."},
	{requestTypeNarrowed, true, "Fewer types are accepted, such as no null."},
	{requestTypeWidened, false, "More types are accepted."},
	{requestEnumNarrowed, true, "Fewer values of an enum are accepted."},
	{requestEnumWidened, false, "More values of an enum are accepted."},
	{requestLimitNarrowed, true, "A maximum was lowered or a minimum raised."},
	{requestLimitWidened, false, "A maximum was raised or a minimum lowered."},
	{requestSyntaxNarrowed, true, "A pattern or format was added or changed."},
	{requestSyntaxWidened, false, "A pattern or format was removed."},
	{defaultChanged, true, "The default of a parameter or member of a request changed."},
	{responseStatusRemoved, true, "A status code is no longer used."},
	{responseStatusAdded, false, "A status code was added; clients know its class (RFC 9110 section 15)."},
	{responseMediaTypeRemoved, true, "A media type of responses was removed."},
	{responseMediaTypeAdded, false, "A media type of responses was added."},
	{responseMemberRemoved, true, "A member of a response body was removed."},
	{responseMemberAdded, false, "A member of a response body was added."},
	{responseMemberOptional, true, "A member that responses always had may be absent."},
	{responseMemberRequired, false, "A member that responses could have is always present."},
	{responseTypeWidened, true, "A response can contain further types, such as null."},
	{responseTypeNarrowed, false, "A response contains fewer types."},
	{responseEnumWidened, true, "A response can contain further values of an enum."},
	{responseEnumNarrowed, false, "A response contains fewer values of an enum."},
	{responseLimitWidened, true, "A response can exceed a limit that the contract had."},
	{responseLimitNarrowed, false, "A limit of a response is stricter."},
	{responseSyntaxWidened, true, "A pattern or format of a response was removed or changed."},
	{responseSyntaxNarrowed, false, "A pattern or format of a response was added."},
	{headerRemoved, true, "A header field of a response was removed."},
	{headerAdded, false, "A header field of a response was added."},
	{headerOptional, true, "A header field that responses always had may be absent."},
	{headerRequired, false, "A header field that responses could have is always present."},
	{headerValueRemoved, true, "Allow, Vary, Link or a similar field lost a value, or Content-Type changed."},
	{headerValueAdded, false, "Allow, Vary, Link or a similar field has a further value."},
	{problemRemoved, true, "A problem type was removed or renamed."},
	{problemAdded, false, "A problem type was added; clients must expect unknown types."},
	{statusChanged, true, "The same request has a response with another status code."},
	{problemChanged, true, "The same request has another problem type, title or code of an error."},
	{orderChanged, true, "The default order of a list changed."},
	{securityAdded, true, "An operation requires authentication or a further scope."},
	{securityRemoved, false, "An operation requires less, or accepts another scheme."},
	{typeRemoved, true, "GraphQL: a type was removed."},
	{typeAdded, false, "GraphQL: a type was added."},
	{typeChanged, true, "GraphQL: a type changed its kind, its specifiedBy or @oneOf."},
	{fieldRemoved, true, "GraphQL: a field was removed."},
	{fieldAdded, false, "GraphQL: a field was added."},
	{fieldTypeNarrowed, false, "GraphQL: a field that could be null is never null."},
	{fieldTypeChanged, true, "GraphQL: a field has another type or may be null."},
	{fieldDeprecated, false, "GraphQL: a field, argument or value was deprecated, or no longer is."},
	{argumentRemoved, true, "GraphQL: an argument was removed."},
	{argumentAdded, false, "GraphQL: an optional argument was added."},
	{argumentRequired, true, "GraphQL: a required argument was added, or an optional one became required."},
	{argumentTypeWidened, false, "GraphQL: a required argument became optional."},
	{argumentTypeChanged, true, "GraphQL: an argument has another type."},
	{argumentDefaultChanged, true, "GraphQL: the default of an argument changed."},
	{inputFieldRemoved, true, "GraphQL: a field of an input type was removed."},
	{inputFieldAdded, false, "GraphQL: an optional field of an input type was added."},
	{inputFieldRequired, true, "GraphQL: a required input field was added, or one became required."},
	{inputFieldTypeWidened, false, "GraphQL: a required input field became optional."},
	{inputFieldTypeChanged, true, "GraphQL: an input field has another type."},
	{inputFieldDefaultChanged, true, "GraphQL: the default of an input field changed."},
	{enumValueRemoved, true, "GraphQL: a value of an enum was removed."},
	{enumValueAdded, true, "GraphQL: a value was added to an enum that responses contain."},
	{inputEnumValueAdded, false, "GraphQL: a value was added to an enum that only requests contain."},
	{unionMemberRemoved, true, "GraphQL: a type was removed from a union."},
	{unionMemberAdded, true, "GraphQL: a type was added to a union."},
	{interfaceRemoved, true, "GraphQL: a type no longer implements an interface."},
	{interfaceAdded, false, "GraphQL: a type implements a further interface."},
	{directiveRemoved, true, "GraphQL: a directive was removed."},
	{directiveAdded, false, "GraphQL: a directive was added."},
	{directiveNarrowed, true, "GraphQL: a directive lost a location or is no longer repeatable."},
	{directiveWidened, false, "GraphQL: a directive has a further location or became repeatable."},
	{operationTypeRemoved, true, "GraphQL: mutations or subscriptions were removed, or a root type renamed."},
	{operationTypeAdded, false, "GraphQL: mutations or subscriptions were added."},
	{partRemoved, true, "The contract no longer has an OpenAPI document or a GraphQL schema."},
	{partAdded, false, "The contract has an OpenAPI document or a GraphQL schema, and had none."},
	{sunsetEarlier, true, "The Sunset of the same contract was moved to an earlier time."},
}

// kindOrder is the position of each kind in the table.
var kindOrder = func() map[Kind]int {
	m := map[Kind]int{}
	for i, row := range kindTable {
		m[row.kind] = i
	}
	return m
}()

// Kinds returns all kinds of changes: those to REST, those to GraphQL, and others.
func Kinds() []Kind {
	all := make([]Kind, len(kindTable))
	for i, row := range kindTable {
		all[i] = row.kind
	}
	return all
}

// Breaking reports whether changes of this kind need a new major version. An unknown kind does.
func (k Kind) Breaking() bool {
	i, ok := kindOrder[k]
	return !ok || kindTable[i].breaking
}

// Meaning returns a sentence that describes the kind; "" if it is unknown.
func (k Kind) Meaning() string {
	if i, ok := kindOrder[k]; ok {
		return kindTable[i].meaning
	}
	return ""
}
