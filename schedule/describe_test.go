package schedule_test

import "testing"

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ doc, want string }{
		{with("cron", `"weekday": "3,6", "hour": "23", "minute": "0"`), "At 23:00 on Thursday and Sunday"},
		{with("cron", `"minute": "*"`), "Every minute"},
		{with("cron", `"hour": "23"`), "Every minute from 23:00 to 23:59"},
		{with("cron", `"hour": "8-10,14", "minute": "*/20"`), "Every 20 minutes from 08:00 to 10:59 and from 14:00 to 14:59"},
		{with("cron", `"hour": "8-10,14", "minute": "0,7,30"`), "At minutes 0, 7 and 30 of hours 8 to 10 and 14"},
		{with("cron", `"minute": "*/5"`), "Every 5 minutes"},
		{with("cron", `"minute": "5/20"`), "At minutes 5, 25 and 45 of every hour"},
		{with("cron", `"minute": "1/2"`), "At every 2nd minute from minute 1 of every hour"},
		{with("cron", `"minute": "*/40"`), "At minutes 0 and 40 of every hour"},
		{with("cron", `"minute": "0"`), "Every hour"},
		{with("cron", `"minute": "5"`), "At minute 5 of every hour"},
		{with("cron", `"minute": 0, "hour": "*/2"`), "Every 2 hours"},
		{with("cron", `"minute": 0, "hour": "*/6"`), "Every 6 hours"},
		{with("cron", `"minute": 5, "hour": "*/2"`), "At minute 5 of every 2nd hour from hour 0"},
		{with("cron", `"minute": "0,30", "hour": "8,9,17"`), "At 08:00, 08:30, 09:00, 09:30, 17:00 and 17:30 every day"},
		{with("cron", nightly), "At 23:00 every day"},
		{with("cron", nightly+`, "month": "6-8,12"`), "At 23:00 every day in June to August and December"},
		{with("cron", nightly+`, "day": "last"`), "At 23:00 on the last day of the month"},
		{with("cron", nightly+`, "day": "2nd tue,last fri,1,15"`), "At 23:00 on days 1 and 15, the 2nd Tuesday and the last Friday of the month"},
		{with("cron", nightly+`, "day": "*/2"`), "At 23:00 on every 2nd day from day 1 of the month"},
		{with("cron", nightly+`, "day": "3/3"`), "At 23:00 on every 3rd day from day 3 of the month"},
		{with("cron", nightly+`, "day": 13, "weekday": "fri,sun", "month": "6"`), "At 23:00 on day 13 of June if it is a Friday or Sunday"},
		{with("cron", nightly+`, "weekday": "mon-fri"`), "At 23:00 on Monday to Friday"},
		{with("cron", nightly+`, "week": "53"`), "At 23:00 every day in ISO week 53"},
		{with("cron", nightly+`, "week": "*/2", "weekday": "mon"`), "At 23:00 on Monday in every 2nd ISO week from ISO week 1"},
		{with("cron", nightly+`, "week": "*/5", "weekday": "mon"`), "At 23:00 on Monday in every 5th ISO week from ISO week 1"},
		{with("cron", nightly+`, "day": 31, "month": 12, "year": 2012`), "At 23:00 on day 31 of December in 2012"},
		{with("cron", nightly+`, "year": "2012-2020/2, 2030"`), `At 23:00 every day in the years of "2012-2020/2,2030"`},
		{with("crontab", `"spec": "30 5 13 6 5"`), "At 05:30 on day 13 of the month and on every Friday in June"},
		{with("crontab", `"spec": "30 5 1-31 * 5"`), "At 05:30 every day"},
		{with("crontab", `"spec": "@weekly"`), "At 00:00 on Sunday"},
		{with("interval", everyTwo), "Every 2 minutes"},
		{with("interval", `"seconds": 1`), "Every second"},
		{with("interval", `"seconds": 3600`), "Every hour"},
		{with("interval", `"days": 7`), "Every week"},
		{with("interval", `"weeks": 2`), "Every 2 weeks"},
		{with("interval", `"days": 1`), "Every day"},
		{with("interval", `"days": 10`), "Every 10 days"},
		{with("interval", `"minutes": 90`), "Every 90 minutes"},
		{with("interval", `"hours": 1, "seconds": 30`), "Every 1 hour and 30 seconds"},
		{with("interval", `"hours": 2, "minutes": 1`), "Every 2 hours and 1 minute"},
		{with("interval", `"days": 1, "hours": 1`), "Every 25 hours"},
		{with("interval", `"days": 8, "hours": 2, "minutes": 3, "seconds": 4`), "Every 8 days, 2 hours, 3 minutes and 4 seconds"},
		{with("simple", `"date": "20121111T2300"`), "Once at 2012-11-11 23:00 (UTC)"},
	} {
		if got := entry(t, test.doc, friday, nil).Description; got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.doc, got, test.want)
		}
	}
}
