package davfs

import (
	"net/http"
	"strings"

	"flowdrive/internal/link"
)

// readmeAt returns Workflow/README.txt with the address by which the user calls the server.
func readmeAt(at link.Base) string { return strings.ReplaceAll(readme, exampleAddress, string(at)) }

// exampleAddress stands in the text for that of the server.
const exampleAddress = "http://127.0.0.1:8080"

// calledAt returns the address of the server: the one that it was told, else the one by
// which the request came.
func (d *drive) calledAt(r *http.Request) link.Base {
	switch {
	case d.Links.Absolute():
		return d.Links
	case r.Host == "":
		return exampleAddress
	case r.TLS != nil:
		return link.Base("https://" + r.Host)
	}
	return link.Base("http://" + r.Host)
}

// readme is Workflow/README.txt, for users who have just mounted the drive.
const readme = `This is a Flowdrive: a workflow and schedule server that you use as a drive.
What you see here are files. Changing one does something; reading one tells how
things stand. The manual is at http://127.0.0.1:8080/docs/ and needs no log-in.


The folders

Worklist/   What you have to do: a file for each task. Write into its "do" what
            you want, such as "perform", and save it. Under "choices" stands
            what you can write. A comment alone performs the task, too.
            Saved as it is, nothing happens.
Cases/      What is going on: a file and a folder for each case. In the folder,
            Actions/ has what can be done now, log.txt what was done. To only
            remark something, save it there as comment.txt. A file is listed
            under the name that you have saved it under, else by the number of
            the case. By its address Cases/17.json is the same file as that of
            case 17; programs that mount the drive find only the listed name.
Routes/     What can happen: the definitions. Drop any other file into
            Routes/<route>/, and a case starts with it as input. Board/ in it
            has the cases by state; to move one moves it on.
Schedule/   What starts when. Save a file to schedule a case, delete it to end that.
Status/     What comes next, and why it has not come: overview.txt, week.txt,
            late.txt, refused.txt (what was refused to you), and a file for each
            case and schedule entry.
Archive/    Cases some time after their end, by year and month.
Calendar/   What is to come for you, for your calendar program.
Schemas/    What may stand in each kind of document, for editors.

Beside Workflow/:

Documents/  Files in ordinary folders: yours, those of your teams, and everyone's to
            read.
Account/    Yourself: me.json, passwords for devices, links to your calendar,
            and where you are logged in to the pages.
Admin/      Users, teams, holds and the audit log, for administrators.

You see what is yours and your teams'. What you may not see is not there.


Good to know

If something is refused, nothing was changed. A folder Rejected has what you
saved, and why it was refused, for a day, even if your program said nothing. It
is in the folder in which you saved or deleted, in the one to which you moved
something, and for a board in the folder of its route. For what cannot be saved
beside Workflow it is there, in the top folder, as for what has a name that
Documents cannot have or a place where you may only read. Status/refused.txt
lists all of that. For other refusals in the folders of Documents the hidden
folder .history has what you saved.

.history in Schedule, Routes, Cases and the folders of Documents has what was
overwritten or deleted in the last 30 days. Copy a file back from it.

An empty file is a draft: nothing happens before something stands in it.

All times are UTC unless a file says otherwise. In a crontab, 0 and 7
are Sunday and 1 is Monday. In the field weekday of a cron entry, 0 is Monday and
6 is Sunday. The names mon, tue, … mean the same in both.


Try it (replace the user and the number of the case)

  curl -u you -T - http://127.0.0.1:8080/dav/Workflow/Cases/new.json <<'EOF'
  {"route": "bug", "title": "The printer is on fire"}
  EOF
  # with what the route asks for
  curl -u you -T - http://127.0.0.1:8080/dav/Workflow/Cases/new.json <<'EOF'
  {"route": "expense", "title": "Train to Bern", "xattrDict": {"amount": 48}}
  EOF
  # the same by dropping a file, which becomes the input
  curl -u you -T receipt.pdf \
    'http://127.0.0.1:8080/dav/Workflow/Routes/expense/receipt.pdf?amount=48'

  curl -u you -X PUT -d '{"comment": "It was the toaster."}' \
    http://127.0.0.1:8080/dav/Workflow/Cases/17/Actions/resolve.json

  curl -u you -T - http://127.0.0.1:8080/dav/Workflow/Schedule/nightly.json <<'EOF'
  {"type": "crontab", "route": "bug", "spec": "0 23 * * mon-fri"}
  EOF
`
