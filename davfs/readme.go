package davfs

// readme is Workflow/README.txt, for users who have just mounted the drive.
const readme = `This is a Flowdrive: a workflow and schedule server that you use as a drive.
What you see here are files. Changing one does something; reading one tells how
things stand. The manual is at the address of this server with /docs/ behind it,
such as http://127.0.0.1:8080/docs/. It needs no log-in.


The folders

Worklist/   What you have to do: a file for each task. Write into its "do" what
            you want, such as "perform", and save it. A comment alone will do,
            too. Saved as it is, nothing happens.
Cases/      What is going on: a file and a folder for each case. In the folder,
            Actions/ has what can be done now, log.txt what was done.
Routes/     What can happen: the definitions. Drop any other file into
            Routes/<route>/, and a case starts with it as input. Board/ in it
            has the cases by state; to move one moves it on.
Schedule/   What starts when. Save a file to schedule a case, delete it to end that.
Status/     What comes next, and why it has not come: overview.txt, week.txt,
            late.txt, and a file for each case and schedule entry.
Archive/    Cases some time after their end, by year and month.
Calendar/   What is to come for you, for your calendar program.
Schemas/    What may stand in each kind of document, for editors.

Beside Workflow/:

Documents/  Files in ordinary folders: yours, those of your teams, and everyone's.
Account/    Yourself: me.json, passwords for devices, links to your calendar,
            and where you are logged in to the pages.
Admin/      Users, teams, holds and the audit log, for administrators.

You see what is yours and your teams'. What you may not see is not there.


Good to know

If something is refused, nothing was changed. The folder Rejected beside it has
what you saved, and why it was refused, for a day. In Documents the hidden folder
.history beside it has that.

.history in Schedule, Routes, Cases and the folders of Documents has what was
overwritten or deleted in the last 30 days. Copy a file back from it.

An empty file is a draft: nothing happens before something stands in it.

All times are UTC unless a file says otherwise. Days of the week count from
0 = Monday to 6 = Sunday; mon, tue, … are safer.


Try it (replace the address, the user and the number of the case)

  curl -u you -T - http://127.0.0.1:8080/dav/Workflow/Cases/new.json <<'EOF'
  {"route": "bug", "title": "The printer is on fire"}
  EOF
  curl -u you -X PUT -d '{"comment": "It was the toaster."}' \
    http://127.0.0.1:8080/dav/Workflow/Cases/17/Actions/resolve.json

  curl -u you -T - http://127.0.0.1:8080/dav/Workflow/Schedule/nightly.json <<'EOF'
  {"type": "crontab", "route": "bug", "spec": "0 23 * * mon-fri"}
  EOF
`
