package route

import (
	"strings"

	"flowdrive/internal/document"
)

// fieldSlips has, by the definition of the schema that an object belongs to ("" for the
// route itself), what people write who know other workflow languages, and what it is
// called here.
var fieldSlips = map[string]document.Slips{
	"": {
		"fields variables attributes properties inputs data": `did you mean "xattrs"?`,
		"every interval cron crontab schedule":               `when cases start by themselves is said by a schedule entry, a file in Workflow/Schedule/`,
		"start initial begin":                                `the state in which cases begin is the one with "type: start"`,
		"steps tasks activities":                             `did you mean "actions"?`,
		"name label":                                         `the name of the file is that of the route; did you mean "title"?`,
		"deadline due duein":                                 `did you mean "timeout", or "dueIn" of an action?`,
		"foureyes four_eyes four-eyes":                       `did you mean "distinct" of an action?`,
		"participants people lanes groups":                   `did you mean "roles"?`,
	},
	"value": {
		"secret": `a secret is put in only as url, headers and secret of http, and as to and text of mail; a command gets it by env of the setting commands`,
	},
	"action": {
		"when if condition only onlyif unless":  `did you mean "guard"? An action with, say, guard: "xattr.amount > 500" is not offered while that is false`,
		"from states state":                     `the states in which an action can be performed are its in`,
		"every interval repeat":                 `an action is performed by itself after its "timeout", such as timeout: PT1H; regular starts are said by a schedule entry, a file in Workflow/Schedule/`,
		"delay wait timer":                      `did you mean "timeout"?`,
		"deadline due within":                   `did you mean "dueIn"?`,
		"who by assign assignee assignees":      `did you mean "role"?`,
		"performer performers user users owner": `did you mean "role", or "allowed"?`,
		"next goto target":                      `did you mean "to"?`,
		"steps do run then script onenter onaction onperform onperformed ondone": `did you mean "onFire", or "sideEffects"?`,
		"mail http exec call set log warn notify":                                `that is a step; steps stand in a list, as onFire: [{mail: {…}}]`,
		"comment remark reason note":                                             `people may always add a comment; what they must give is asked for by a "form", such as form: {properties: {reason: {type: string}}, required: [reason]}`,
		"onexit onleave":                                                         `did you mean "onUnEnable"?`,
		"label name":                                                             `did you mean "title"?`,
		"fields inputs ask questions schema":                                     `did you mean "form"?`,
		"kind":                                                                   `did you mean "trigger", or "type"?`,
		"automatic auto":                                                         `did you mean "trigger: auto"?`,
		"approve deny cancel restart resolve":                                    `did you mean "type"?`,
		"quorum votes approvals":                                                 `did you mean need: "2 of <role>"?`,
		"requires dependson depends":                                             `did you mean "after"?`,
		"foureyes four_eyes four-eyes separation":                                `did you mean "distinct"? With distinct: [ask], the user who performed ask may not perform this action`,
	},
	"state": {
		"label name":             `did you mean "title"?`,
		"final end terminal":     `did you mean "type: complete"?`,
		"initial start":          `did you mean "type: start"?`,
		"actions transitions on": `what leads out of a state are actions of the route, with its name in their in`,
		"deadline due limit":     `did you mean "timeout"?`,
		"onexpire":               `did you mean "onTimeout"?`,
		"steps do":               `did you mean "onEnter"?`,
	},
	"role": {
		"members users user team teams group who players": `did you mean "assign"?`,
		"choose options": `did you mean "pick"?`,
		"label name":     `did you mean "title"?`,
	},
	"timer": {
		"after duration timeout delay due every interval": `did you mean "limit"?`,
		"then do steps ontimeout":                         `did you mean "onExpire"?`,
	},
	"xattr": {
		"mandatory needed":                    `did you mean "required"?`,
		"min":                                 `did you mean "minimum"?`,
		"max":                                 `did you mean "maximum"?`,
		"enum values options choices allowed": `what can be chosen is said where an action asks for it, as form: {properties: {supplier: {enum: [Sit, Stand]}}}`,
	},
	"step": {
		"warning alert":                        `did you mean "warn"?`,
		"email notify send":                    `did you mean "mail"?`,
		"request webhook post get url":         `did you mean "http"?`,
		"run command shell script execute cmd": `did you mean "exec"?`,
		"print note comment":                   `did you mean "log"?`,
		"goto next transition":                 `a step changes no state; did you mean "to" of the action, or "perform"?`,
		"wait sleep delay":                     `a step does not wait; did you mean "timeout" of an action, or a timer?`,
		"create child":                         `did you mean "start"?`,
		"when unless condition":                `did you mean "if"?`,
		"starttimer":                           `did you mean "enableTimer"?`,
		"stoptimer":                            `did you mean "disableTimer"?`,
	},
	"http": {
		"body data json payload": `did you mean "value"? A message is sent by its label in from`,
		"type contenttype":       `did you mean "headers"?`,
		"timeout":                `a request has 10 seconds; did you mean "retry"?`,
		"to output result save":  `did you mean "into"?`,
	},
	"access": {
		"write edit owner": `did you mean "admin"?`,
		"view see":         `did you mean "read"?`,
		"create submit":    `did you mean "start"?`,
	},
}

// typeSlips has, by the definition that an object belongs to, what people write as its
// type or trigger.
var typeSlips = map[string]document.Slips{
	"action/type": {
		"user init auto time message":     `that is a "trigger"`,
		"approved accept ok yes grant":    `did you mean "approve"?`,
		"denied reject rejected no":       `did you mean "deny"?`,
		"reopen open":                     `did you mean "restart"?`,
		"withdraw canceled cancelled":     `did you mean "cancel"?`,
		"resolved complete done finished": `did you mean "resolve"?`,
	},
	"action/trigger": {
		"approve deny cancel restart resolve":  `that is a "type"`,
		"automatic system":                     `did you mean "auto"?`,
		"timer timeout delay":                  `did you mean "time"?`,
		"start begin create":                   `did you mean "init"?`,
		"manual human":                         `did you mean "user"?`,
		"schedule cron interval every regular": `regular starts are said by a schedule entry, a file in Workflow/Schedule/`,
		"event hook webhook":                   `did you mean "message"?`,
	},
	"state/type": {
		"initial begin first":                   `did you mean "start"?`,
		"end final done closed finished":        `did you mean "complete"?`,
		"rejected refused":                      `did you mean "denied"?`,
		"cancel canceled withdrawn":             `did you mean "cancelled"?`,
		"error broken":                          `did you mean "failed"?`,
		"intermediate middle task open waiting": `did you mean "normal"?`,
	},
	"xattr/type": {
		"text str varchar char":             `did you mean "string"?`,
		"date day":                          `a date is a string: write type: string, format: date`,
		"int integer long":                  `did you mean "number"? A form can ask for a whole number, as form: {properties: {days: {type: integer}}}`,
		"float double decimal":              `did you mean "number"?`,
		"bool checkbox":                     `did you mean "boolean"?`,
		"money currency amount":             `did you mean "number"?`,
		"email mail url uri user":           `did you mean "string"?`,
		"enum choice select list":           `what can be chosen is a string; where an action asks for it the choices are said, as form: {properties: {supplier: {enum: [Sit, Stand]}}}`,
		"datetime date-time timestamp time": `did you mean "string"? A date without a time is type: string, format: date`,
	},
}

// definition returns which definition of the schema a URL is in: "action", "action/type";
// "" for the root.
func definition(url string) string {
	_, fragment, _ := strings.Cut(url, "#")
	fragment = strings.TrimPrefix(strings.TrimPrefix(fragment, "/"), "$defs/")
	fragment = strings.TrimPrefix(fragment, "properties/")
	fragment = strings.Replace(fragment, "/properties/", "/", 1)
	return strings.TrimPrefix(fragment, "step/")
}

// everyoneSlips are what people write in a list of access instead of everyone.
var everyoneSlips = document.Slips{"everybody all anyone anybody public": everyone}
