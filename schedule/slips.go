package schedule

import "flowdrive/internal/document"

// fieldSlips has what people write in an entry who know other schedulers, and what it is
// called here.
var fieldSlips = document.Slips{
	"at time":                       `did you mean "hour" and "minute", with the type "cron", or "date" with the type "simple"?`,
	"name label":                    `the name of the file is that of the entry; the cases are called by "title"`,
	"tz zone tzid":                  `did you mean "timezone"?`,
	"comment comments":              `did you mean "note"?`,
	"holidays calendar":             `did you mean "excludeCalendar", with the path of an .ics document?`,
	"catchup persistent":            `did you mean "misfire"?`,
	"owner user team group":         `did you mean "context"?`,
	"input file attachment":         `did you mean "document", with a path, or "attachmentUUID"?`,
	"enabled active disabled":       `did you mean "paused"?`,
	"jitter splay randomdelay":      `did you mean "jitterSeconds"?`,
	"workflow process job task":     `did you mean "route"?`,
	"every period frequency rate":   `did you mean the type "interval", with "minutes": 60, or another of weeks, days, hours, seconds?`,
	"times count repetitions limit": `did you mean "repeat"?`,
	"concurrency concurrencypolicy": `did you mean "overlap"?`,

	"until stop to notafter enddate endat":         `did you mean "end"?`,
	"grace tolerance startingdeadlineseconds":      `did you mean "graceSeconds"?`,
	"cron crontab schedule expression cronspec":    `did you mean "spec", with the type "crontab", such as "30 5 * * 1-5"?`,
	"from begin after notbefore startdate startat": `did you mean "start"?`,
	"xattrs xattr data params parameters env with": `did you mean "xattrDict"?`,
}

// typeSlips has what people write as the type of an entry.
var typeSlips = document.Slips{
	"once at date oneshot one-shot": `did you mean "simple"?`,
	"daily hourly weekly monthly yearly annually @daily @hourly @weekly @monthly @yearly": `did you mean the type "crontab", with a "spec" such as "@daily"?`,
	"every period periodic seconds minutes":                                               `did you mean "interval"?`,
}
