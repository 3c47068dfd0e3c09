package sqlite

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"flowdrive/store"
)

// TestNoStatementScansWhatGrows looks at how SQLite would run each statement: none goes through a
// table that grows, so that none costs more the more there is stored (P12).
func TestNoStatementScansWhatGrows(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	small := regexp.MustCompile(`^SCAN (json_each|parties|app_passwords|calendar_links|sessions|d$|days$|routes|scenarios|open_cases|audit_head|holds|sequence|along|owning|running|below|up|lanes|CONSTANT ROW|\(subquery)`)
	byIndex := regexp.MustCompile(`^SCAN \S+ USING (COVERING )?INDEX`)
	for name, query := range map[string]string{
		"selectSequence": selectSequence, "updateSequence": updateSequence,
		"selectParties": selectParties, "upsertParty": upsertParty.query, "deleteParty": deleteParty,
		"selectRouteByID": selectRouteByID, "selectRouteByName": selectRouteByName, "selectRoutes": selectRoutes,
		"selectRouteStamp": selectRouteStamp, "selectRouteVersion": selectRouteVersion,
		"selectRouteVersions": selectRouteVersions, "countRouteUses": countRouteUses,
		"upsertRoute": upsertRoute.query, "insertRouteVersion": insertRouteVersion.query, "deleteRoute": deleteRoute,
		"selectEntry": selectEntry, "selectEntries": selectEntries, "entriesOfContext": entriesOfContext,
		"allEntries": allEntries, "countEntries": countEntries, "insertEntry": insertEntry.query,
		"advanceEntry": advanceEntry.query, "updateEntry": updateEntry.query, "deleteEntry": deleteEntry,
		"selectOccurrences": selectOccurrences, "occurrencesBefore": occurrencesBefore, "insertOccurrence": insertOccurrence.query,
		"selectCase": selectCase, "selectCases": selectCases, "selectSeenCases": selectSeenCases, "selectEntriesSeen": selectEntriesSeen, "allCases": allCases,
		"casesOfRoute": casesOfRoute, "casesOfParty": casesOfParty, "selectAccess": selectAccess,
		"caseExists": caseExists, "countOpenCases": countOpenCases, "nextLane": nextLane, "selectQueued": selectQueued, "groupBusy": groupBusy,
		"selectHolds": selectHolds, "insertHold": insertHold.query, "updateHold": updateHold.query, "deleteHold": deleteHold,
		"insertCase": insertCase.query, "updateCase": updateCase.query, "advanceCase": advanceCase.query,
		"selectDueEntries": selectDueEntries, "selectDueCases": selectDueCases, "selectHeads": selectHeads,
		"selectDueContexts": selectDueContexts, "selectDueEntriesOf": selectDueEntriesOf, "selectDueCasesOf": selectDueCasesOf,
		"selectRouteBriefs": selectRouteBriefs, "putRouteBrief": putRouteBrief,
		"selectMessage": selectMessage, "selectMessageByLabel": selectMessageByLabel, "selectMessages": selectMessages,
		"upsertMessage": upsertMessage.query, "selectLog": selectLog, "insertLog": insertLog,
		"selectName": selectName, "selectNameOfEntry": selectNameOfEntry, "selectNameOfCase": selectNameOfCase,
		"selectNamesOfEntries": selectNamesOfEntries, "selectNamesOfCases": selectNamesOfCases,
		"upsertName": upsertName.query, "deleteName": deleteName,
		"selectAnswer": selectAnswer, "insertAnswer": insertAnswer.query, "deleteAnswers": deleteAnswers,
		"selectSetting": selectSetting, "upsertSetting": upsertSetting,
		"selectSecrets": selectSecrets, "insertSecret": insertSecret.query, "touchSecret": touchSecret, "deleteSecret": deleteSecret,
		"selectLinks": ofKind(store.CalendarLink, selectSecrets), "insertLink": ofKind(store.CalendarLink, insertSecret.query),
		"touchLink": ofKind(store.CalendarLink, touchSecret), "deleteLink": ofKind(store.CalendarLink, deleteSecret),
		"newestOfAll": newestOfAll, "newestOfRoute": newestOfRoute, "newestOfParty": newestOfParty, "newestOfCase": newestOfCase, "newestArchived": newestArchived,
		"newestArchivedOfRoute": newestArchivedOfRoute, "newestArchivedOfParty": newestArchivedOfParty, "selectNewest": selectNewest,
		"selectSessions": selectSessions, "insertSession": insertSession.query, "touchSession": touchSession, "deleteSession": deleteSession,
		"selectAuditDays": selectAuditDays, "selectAuditDay": selectAuditDay, "selectAuditText": selectAuditText,
		"insertAudit": insertAudit, "selectAuditHead": selectAuditHead, "putAuditHead": putAuditHead,
		"selectUnusedBlobs": selectUnusedBlobs, "selectBlob": selectBlob, "insertBlob": insertBlob,
		"deleteBlob": deleteBlob, "selectStoredBytes": selectStoredBytes,
		"selectAttachment": selectAttachment, "selectAttachments": selectAttachments, "allAttachments": allAttachments,
		"unboundAttachments": unboundAttachments, "attachmentsOfCase": attachmentsOfCase,
		"attachmentsOfRoute": attachmentsOfRoute, "attachmentsSeenByOne": attachmentsSeenByOne,
		"selectAttachmentUse": selectAttachmentUse, "insertAttachment": insertAttachment.query,
		"updateAttachmentExpiry": updateAttachmentExpiry, "deleteAttachment": deleteAttachment,
		"selectDueAttachments": selectDueAttachments,
		"selectDocumentsAlong": selectDocumentsAlong, "selectDocumentRoots": selectDocumentRoots,
		"selectAllDocumentRoots": selectAllDocumentRoots,
		"selectDocumentPage":     selectDocumentPage, "selectDocumentsUnder": selectDocumentsUnder, "selectToPurge": selectToPurge, "setProperties": setProperties,
		"insertDocument": insertDocument.query, "replaceDocument": replaceDocument.query, "touchFolder": touchFolder,
		"deleteDocument": deleteDocument, "moveDocument": moveDocument, "copyDocument": copyDocument, "detachFolder": detachFolder, "selectDetached": selectDetached,
		"selectDocumentsIn": selectDocumentsIn, "deleteDocumentFiles": deleteDocumentFiles, "detachFolders": detachFolders,
		"selectAlias": selectAlias, "selectAliases": selectAliases, "upsertAlias": upsertAlias, "deleteAlias": deleteAlias,
		"selectScratch": selectScratch, "selectScratchIn": selectScratchIn, "selectScratchBytes": selectScratchBytes,
		"selectOldestScratch": selectOldestScratch, "selectScratchExpiry": selectScratchExpiry,
		"upsertScratch": upsertScratch.query, "moveScratch": moveScratch, "moveScratchBelow": moveScratchBelow,
		"deleteScratch": deleteScratch, "deleteScratchBelow": deleteScratchBelow,
		"deleteScratchByID": deleteScratchByID, "deleteExpiredScratch": deleteExpiredScratch,
		"selectLocksOn": selectLocksOn, "selectLocksBelow": selectLocksBelow, "selectLockByToken": selectLockByToken,
		"countLocks": countLocks, "selectDocumentsBelow": selectDocumentsBelow, "insertLock": insertLock.query,
		"refreshLock": refreshLock, "deleteLock": deleteLock, "deleteLocksOn": deleteLocksOn, "deleteLocksOf": deleteLocksOf,
		"deleteLocksBefore": deleteLocksBefore, "moveLocks": moveLocks,
		"tasksOfParty": tasksOfParty, "tasksOfRoute": tasksOfRoute, "tasksOfRoutes": tasksOfRoutes, "selectMarkings": selectMarkings, "selectRevisions": selectRevisions, "hasTasks": hasTasks,
		"deleteTasks": deleteTasks, "upsertTasks": upsertTasks,
		"deleteRouteTasks": deleteRouteTasks, "upsertRouteTasks": upsertRouteTasks,
		"selectHistory": selectHistory, "selectAllHistory": selectAllHistory, "selectPast": selectPast,
		"insertPast": insertPast, "deleteHistory": deleteHistory, "selectTombstone": selectTombstone,
		"upsertTombstone": upsertTombstone, "deleteTombstone": deleteTombstone, "deleteTombstonesBefore": deleteTombstonesBefore,
		"openOfRoute": openOfRoute, "endedInStatus": endedInStatus, "openOfEntry": openOfEntry, "releaseNext": releaseNext,
		"strandedOpen": strandedOpen, "strandedCompleted": strandedCompleted,
		"upcomingEntries": upcomingEntries, "upcomingCases": upcomingCases, "newestTasks": newestTasks, "dueOfCases": dueOfCases,
		"selectOutbox": selectOutbox, "firstOutbox": firstOutbox, "selectLanes": selectLanes, "selectDueOutbox": selectDueOutbox, "insertOutbox": insertOutbox.query,
		"leaseOutbox": leaseOutbox, "updateOutbox": updateOutbox, "deleteOutbox": deleteOutbox, "landOutbox": landOutbox,
		"casesOfCase": casesOfCase, "childrenOfRow": childrenOfRow, "childMarkings": childMarkings,
		"archivedCases": archivedCases, "archivedOfRoute": archivedOfRoute, "archivedOfParty": archivedOfParty,
		"monthOfAll": monthOfAll, "monthOfRoute": monthOfRoute, "monthOfParty": monthOfParty,
		"nextMonth": nextMonth, "nextMonthOfRoute": nextMonthOfRoute, "nextMonthOfParty": nextMonthOfParty,
		"endedChildren": endedChildren, "anyChildren": anyChildren, "archiveCase": archiveCase, "setRetires": setRetires,
		"deleteCase": deleteCase, "forgetCase": forgetCase, "insertPurge": insertPurge, "deletePurge": deletePurge,
		"selectHook": selectHook, "selectHookByToken": selectHookByToken, "selectHooks": selectHooks,
		"selectScenarioOfRoute": selectScenarioOfRoute, "selectScenarioWaiting": selectScenarioWaiting, "selectScenarios": selectScenarios,
		"insertScenario": insertScenario.query, "updateScenario": updateScenario.query, "deleteScenario": deleteScenario, "deleteScenariosOf": deleteScenariosOf,
		"insertHook": insertHook.query, "updateHook": updateHook.query, "deleteHook": deleteHook,
		"selectTrouble": selectTrouble, "selectTroublesOfCase": selectTroublesOfCase, "selectTroublesOfEntry": selectTroublesOfEntry,
		"insertTrouble": insertTrouble.query, "updateTrouble": updateTrouble.query, "deleteTrouble": deleteTrouble, "selectDueTroubles": selectDueTroubles,
		"insertHeldMail": insertHeldMail.query, "selectDueMailsOf": selectDueMailsOf, "deleteHeldMails": deleteHeldMails, "selectDueHeldMails": selectDueHeldMails,
		"selectDuePurges": selectDuePurges, "selectRetired": selectRetired,
		"putEnded": putEnded.query, "selectEnded": selectEnded, "selectEndedOf": selectEndedOf, "selectAllEnded": selectAllEnded,
		"deleteEnded": deleteEnded, "deleteEndedBefore": deleteEndedBefore,
		"insertDone": insertDone.query, "selectDone": selectDone, "deleteDoneBefore": deleteDoneBefore,
		"countStates": countStates, "countLists": countLists, "countOutbox": countOutbox, "countLate": countLate, "sumStored": sumStored,
		"nextEndedStatus": nextEndedStatus, "otherOpenStatus": otherOpenStatus,
	} {
		for _, step := range plan(t, db, query) {
			limited := strings.Contains(query, "LIMIT") || name == "countRouteUses" || name == "selectHeads" || name == "landOutbox" /* few are under way */
			switch {
			case strings.HasPrefix(step, "SCAN") && small.MatchString(step):
			case byIndex.MatchString(step) && limited: // reads from the front of an index, as far as it needs
			case name == "countStates", name == "countLists", name == "countOutbox":
				// walk through indexes of what is open, for monitoring that asks once in a quarter of a minute
			case name == "sumStored": // has a row a user
			case name == "selectEndedOf": // sorts what has ended in the last days
			case name == "selectMessages", name == "selectDocumentsAlong", name == "selectLocksOn", name == "selectLocksBelow":
				// sorts the few of one case, of one path, of one resource, and of one kind
			case strings.HasPrefix(step, "SCAN"), strings.Contains(step, "TEMP B-TREE"):
				t.Errorf("%s: %s", name, step)
			}
		}
	}
}

var parameter = regexp.MustCompile(`\?(\d+)`)

// plan returns the steps of a statement.
func plan(t *testing.T, db *DB, query string) (steps []string) {
	t.Helper()
	parameters := 0
	for _, m := range parameter.FindAllStringSubmatch(query, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		parameters = max(parameters, n)
	}
	err := db.view(t.Context(), func(r *reader) error {
		return r.c.each("EXPLAIN QUERY PLAN "+query, func(scan scan) error {
			var id, parent, unused int
			var detail string
			err := scan(&id, &parent, &unused, &detail)
			steps = append(steps, detail)
			return err
		}, make([]any, parameters)...)
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return steps
}
