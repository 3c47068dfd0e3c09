package davfs

// readme is Workflow/README.txt, for users who have just mounted the drive.
const readme = `This is a Flowdrive: a workflow and schedule server that you use as a drive.
What you see here are files. Changing one does something; reading one tells how
things stand. Nothing else is needed, but curl and scripts work as well.


The folders

Schedule/   What shall happen when. Each file is a schedule entry: a route, and
            the times at which a case of it is to be created. Save a file, and
            it is scheduled; delete it, and it is not any more. When it fires
            next, and what became of the last instants, says
              Status/schedule/<name>.txt

Routes/     What can happen: the definitions. <route>.yaml or <route>.json is
            one, as it was stored; change it and save it for a new version.
              Routes/<route>.scenario.yaml       a story of the route, played each
                                                 time that either is saved; the
                                                 drive refuses what breaks it
              Routes/<route>/                    drop any other file here, and a
                                                 case starts with it as input
              Routes/<route>/Board/<state>/      its cases, by state
              Routes/<route>/Versions/<n>.json   every version ever stored

Cases/      What is happening: one file and one folder for each case.
              Cases/<id>.json                    the case, all of it
              Cases/<id>/Actions/<action>.json   what can be done now; saving
                                                 a change does it
              Cases/<id>/Timers/<timer>.json     by when; save another limit,
                                                 as {"limit": "P3D"}, to move it
              Cases/<id>/input, output           what went in and came out
              Cases/<id>/Files/                  its files: save one there to
                                                 attach it
              Cases/<id>/Labels/, Messages/      all its messages
              Cases/<id>/Outbox/                 mails, requests and commands:
                                                 what became of each attempt
              Cases/<id>/log.txt, log.json       who did what, and when
              Cases/<id>/diagram.svg             where it is in its route

Worklist/   What you have to do yourself: a file for each task.
              Worklist/Offered/                  what you may take on or do;
                                                 saving a change does it
              Worklist/Accepted/                 what you have taken on
              Worklist/Today/                    what is due by the end of the day
              Worklist/Warnings/, Escalated/     what is late; what needs help;
                                                 also of cases that you started
              Worklist/Done/                     what you did in the last week
              Worklist/Team/<team>/              who of a team that you head has
                                                 what to do

Status/     What comes next, and why it has not come. Read only; in your time
            zone. Each has the same for programs, ending in .json.
              Status/overview.txt                how things stand for you
              Status/week.txt                    what fires in the coming week
              Status/late.txt                    what is late, or has failed
              Status/schedule/<name>.txt         of an entry: when it fires next,
                                                 what became of it, what failed;
                                                 also for 30 days after its end
              Status/cases/<id>.txt              of a case: where it is, whom it
                                                 waits for, what happens if
                                                 nobody does anything

Archive/    What is over: cases some time after their end, by year and month.
              Archive/<year>/<month>/<id>.json   to be read; administrators may
                                                 delete it for good

Calendar/   What is to come for you: upcoming.ics, for your calendar.

Schemas/    What may stand in each kind of document, as JSON Schemas: for
            editors that help with writing them.

Beside Workflow/:

Documents/  Files, in ordinary folders: one for you, one for each of your
            teams, and everyone. Entries and cases can take them as input.

Account/    Yourself. Change a file to change what it says.
              Account/me.json                    who you are, your teams with
                                                 their ids, who stands in for
                                                 you; a new password
              Account/AppPasswords/<name>.json   a password of its own for each
                                                 device or program; delete the
                                                 file, and it ends
              Account/CalendarLinks/<name>.json  an address of your calendar for
                                                 programs that cannot log in
              Account/people.json                the names that you can write
                                                 where people are meant

Admin/      For administrators only.
              Admin/Users/, Teams/               who there is, and who is in what
              Admin/Holds/<name>.json            what does not start while the
                                                 file is there: {"route": "bug"}
              Admin/Audit/<date>.jsonl           what was done and refused
              Admin/Status.json                  how the server is, and its backups
              Admin/Outbox/<time> <to>.eml       mails that a sandbox would have sent

You see your own and your teams' entries and cases. What you may not see is not
there.


Names

A file that you save under a name ending in .json keeps that name for you; it
can always be reached under its identity too: the UUID of an entry, the number
of a case. Others see your file as <name>@<you>.json. What you saved comes back
byte for byte under your name; under the identity you get the complete form,
with every field filled in. A file called new.json, or without such an ending,
is taken as well: look for it under its identity.


Examples (replace the address and the user by yours)

Schedule the route "bug" for 23:00 on every working day:

  curl -u you -T - http://127.0.0.1:8080/dav/Workflow/Schedule/nightly.json <<'EOF'
  {"type": "cron", "route": "bug", "weekday": "mon-fri", "hour": "23", "minute": "0"}
  EOF

Start a case, see what can be done, do it:

  curl -u you -T - http://127.0.0.1:8080/dav/Workflow/Cases/new.json <<'EOF'
  {"route": "bug", "title": "The printer is on fire"}
  EOF
  curl -u you http://127.0.0.1:8080/dav/Workflow/Cases/17/Actions/
  curl -u you -X PUT -d '{}' http://127.0.0.1:8080/dav/Workflow/Cases/17/Actions/resolve.json


Good to know

A file that cannot be accepted changes nothing: what was stored stays in force.
Programs on a mounted drive seldom show why. Look into the folder Rejected,
which is then beside it: for a day it has what you saved or dropped, and in a
.txt why it was refused, or why a case could not be moved.

To do something with a task, write into its "do" what you want, as "perform";
a comment alone will do, too. Saved as it is, nothing happens.

An empty file is a draft: nothing happens before something stands in it. The
temporary files of your programs are kept for you alone, for a day; so is, in
Schedule, Routes, Cases and Actions, whatever does not end in .json, .yaml or
.yml.

Schedule, Routes and Cases each have a folder .history with what you
overwrote or deleted in the last 30 days. Copy a file back from it. So has
each folder in Documents, for all that was in it: its trash as well.

Windows takes no folder of more than a million bytes: it is shown the newest
2,000 files of a folder, or fewer if their names are long. The others are there
and open by their names; other programs see them all.

Days of the week count from 0 = Monday to 6 = Sunday; mon, tue, … are safer.
All times are UTC unless a file says otherwise.

The hidden file .contents in Schedule, Routes, Cases and Admin's folders is the
complete form of everything in it as one JSON array; .ls is the short form:

  curl -u you 'http://127.0.0.1:8080/dav/Workflow/Cases/.contents?state=active'
`
