// Package davfs is the drive: the tree of files below /dav/ and what HTTP and
// WebDAV methods do to it (docs/contract/drive.md). It decides nothing about
// schedules, routes and cases: it finds the place that a path names, reads the
// request, asks the engine, and answers. Who is asking, and how a failure looks
// on the wire, it leaves to the server.
//
//	/dav/                                node_root.go
//	  Workflow/
//	    README.txt                       readme.go
//	    Schedule/                        node_schedule.go
//	      <name>.json, <uuid>.json
//	      <uuid>/occurrences.json        resolves, is not listed
//	    Routes/                          node_route.go
//	      <route>.yaml, <route>.json
//	      <route>.scenario.yaml, .json   node_scenario.go
//	      <route>/                       node_drop.go
//	        <name>                       a dropped file, to its author
//	        Board/<state>/<id> ….json    node_board.go
//	        Versions/<n>.json, <n>.yaml  node_version.go
//	        Hooks/<name>.json            node_hook.go
//	        <id>/                        resolves to Cases/<id>/, is not listed
//	    Cases/                           node_case.go
//	      <id>.json, <name>.json
//	      <id>/
//	        input, output or exception   node_message.go
//	        Actions/<action>.json        node_action.go
//	        Timers/<timer>.json          node_timer.go
//	        Messages/<uuid>              node_message.go
//	        Outbox/<delivery>.json       node_outbox.go
//	        Labels/<label>               node_message.go
//	        Files/<name>                 node_casefiles.go
//	        log.json, log.txt
//	        comment.txt                  node_remark.go
//	        diagram.svg, .txt, .mmd      node_picture.go
//	    Worklist/<list>/<task>.json      node_worklist.go
//	    Status/schedule/, cases/         node_status.go
//	    Archive/<yyyy>/<mm>/<id>.json    node_archive.go
//	    Calendar/upcoming.ics            node_root.go
//	    Schemas/<name>.schema.json       node_schema.go
//	  Documents/<context>/…              node_documents.go
//	    .history/                        node_past.go
//	  Account/                           node_account.go
//	    me.json, people.json
//	    AppPasswords/, CalendarLinks/
//	    Sessions/<id>.json               node_sessions.go
//	  Admin/                             node_admin.go; administrators only
//	    Users/<name>.json, Teams/<name>.json
//	    Holds/<name>.json                node_hold.go
//	    Audit/<date>.jsonl               node_audit.go
//	    Nodes/<node>.json                node_nodes.go
//	    Sessions/<id>.json               node_sessions.go
//	    Outbox/<mail>.eml                node_letters.go, in a sandbox
//
//	/attachfs/                           node_attach.go
//	  <uuid>, view/<uuid>, download/<uuid>
//	  <name>                             the place of a new attachment
//	  <caseId>/<uuid>, <caseId>/<name>   of one that is bound to a case
//
// Every folder of resources has the hidden keys .contents and .ls
// (node_hidden.go); the others have .ls (node_names.go). Schedule/, Routes/ and
// Cases/ have .history/ (node_history.go), which is not listed. Side files are kept everywhere but in Documents/ and
// /attachfs/ (node_scratch.go), and Rejected/ is in a folder of the workflow
// while it holds something (rejected.go). Places that are not built yet answer
// 501.
//
// A path is walked one segment at a time (walk.go) without asking what is
// stored; what is there, a node says when it is asked. What it can do it
// says by small interfaces: reader, writer, remover, folder, collection,
// streamer.
//
//	            file                  folder              later place
//	GET, HEAD   its bytes             a page, never 405   501
//	PUT         put.go; read-only 405 405                 501
//	DELETE      204; read-only 405    403 not-deletable   501
//	PROPFIND    its properties      also of its members 501
//	PROPPATCH   207, with a status for each property      501
//	MKCOL       405                   405; new: 403       501
//	OPTIONS     what the kind of place takes              501
//	POST, …     405
//	LOCK        what PUT writes       403 not-lockable    501
//	UNLOCK      the same              the same            501
//	COPY        what GET reads        403; see below      501
//	MOVE        403 with exceptions      403; see below      501
//
// In Documents/ folders can be made and deleted, and infinite depth is answered.
// The kind of place there depends on what is stored, which is asked once, at the
// end of the path.
//
// COPY and MOVE within Documents/ are the engine's. Elsewhere a COPY is the PUT
// of what GET gives. So is a MOVE out of Documents/ or of a side file, whose
// source the transaction of the PUT deletes (moveSource). Cases on a board, tasks
// in worklists and given names move in their own ways (movable). What locks cover
// the engine says: lock.go reads and answers, locksof.go tells.
//
// Programs that embed the drive may have it as a webdav.FileSystem, too
// (filesystem.go, filesystem_file.go, locksystem.go): each of its operations is
// the method of the handler that does the same.
//
// How WebDAV is read and written on the wire is in package davfs/dav. A PROPFIND
// (propfind.go) first fetches what it tells, the members of a folder with one
// question, and then writes the answer as it is sent. A PROPPATCH (proppatch.go) keeps what it is told with documents,
// changes the XATTRs of cases, and takes time stamps of desktops everywhere.
package davfs
