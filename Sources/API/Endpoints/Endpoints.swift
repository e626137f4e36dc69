/// The table of endpoints: a row for each.
///
/// The server parses requests and answers them by these rows, the client sends requests by them, and
/// `GET /v1/openapi.json` describes them. To add an endpoint:
///
/// 1. Add a row here, and to ``all``. A query of its own is a struct in `Queries.swift`, which describes each
///    parameter once; a new object of the wire is a `Codable` struct in `Objects`.
/// 2. Register a handler for it in `DaemonHandler.handlers`: `table.on(Endpoints.NAME) { ... }`. It gets the path, the
///    query and the body as values, and returns the row's answer.
/// 3. Call it: `client.ask(Endpoints.NAME(path, query: query, body: body))`.
///
/// A test fails for a row without a handler, for a handler without a row, and for a row that the OpenAPI document can't
/// describe. In a debug build an error that the row does not list stops the daemon.
package enum Endpoints {
    /// Every row, in the order in which a path's methods are named.
    package static let all: [EndpointRow] = [
        health.row, readiness.row, openAPI.row, status.row, config.row, reload.row,
        jobs.row, addJob.row, job.row, editJob.row, removeJob.row, pauseJob.row, resumeJob.row, runJob.row,
        nextSlots.row, history.row, profile.row, jobText.row, setJobText.row,
        runs.row, run.row, logs.row, cancelRun.row, retryRun.row, pauseRun.row, resumeRun.row, exec.row,
        spool.row,
        events.row, live.row,
        messages.row, message.row, items.row, notify.row, read.row, readItem.row, bots.row, bot.row,
        addBot.row,
        editBot.row, removeBot.row, testBot.row, tools.row, callTool.row,
        toolProgress.row, cancelTool.row, say.row, reply.row, react.row,
        resetBot.row, gateway.row, watchGateway.row, takeOverJob.row, giveBackJob.row,
        questions.row, askQuestion.row, question.row, answerQuestion.row, withdrawQuestion.row,
        settleQuestions.row,
        outbox.row, outboxEntry.row, retryEntry.row, discardEntry.row, why.row,
        silences.row, addSilence.row, endSilence.row, digest.row, pin.row, unpin.row,
        channels.row, addChannel.row, removeChannel.row, testChannel.row,
        retryChannel.row, discardChannel.row, replayChannel.row,
        tokens.row, addToken.row, removeToken.row,
        expectations.row, expect.row, removeExpectation.row,
    ]
}

extension Endpoints {
    package static let health = Endpoint(
        "health", .get, "/healthz", answers: TextDocument.self, "Answers ok while the daemon runs.")

    package static let readiness = Endpoint(
        "readiness", .get, "/readyz", answers: TextDocument.self, errors: [.wardenAway],
        "Answers ready when the jobs are loaded, and the ledger and the warden respond.")

    package static let openAPI = Endpoint(
        "openAPI", .get, "/v1/openapi.json", answers: JSONDocument.self,
        "Describes this API, as OpenAPI 3.1.")

    package static let status = Endpoint(
        "status", .get, "/v1/status", answers: WireStatus.self, "Shows the health of the daemon.")

    package static let config = Endpoint(
        "config", .get, "/v1/config", answers: WireConfig.self, needsJobs: true,
        "Shows the loaded configuration, with defaults and without secrets.")

    package static let reload = Endpoint(
        "reload", .post, "/v1/reload", answers: WireReloadDifference.self, needsJobs: true,
        errors: [.badConfig, .badValue, .badSchedule, .jobExists],
        "Reloads the configuration; one with an error is rejected as a whole.")
}

// Jobs.
extension Endpoints {
    package static let jobs = Endpoint(
        "jobs", .get, "/v1/jobs", answers: [WireJob].self, needsJobs: true, "Lists every job by name.")

    package static let addJob = Endpoint(
        "addJob", .post, "/v1/jobs", takes: .json(JobDraft.self), answers: WireJob.self, creates: true,
        needsJobs: true, errors: [.badName, .badSchedule, .jobExists, .noSuchBot], "Adds a job.")

    package static let job = Endpoint(
        "job", .get, "/v1/jobs/{job}", path: String.self, answers: WireJob.self, needsJobs: true,
        errors: [.noSuchJob], "Shows a job.")

    package static let editJob = Endpoint(
        "editJob", .patch, "/v1/jobs/{job}", path: String.self, takes: .json(JobDraft.self),
        answers: WireJob.self,
        needsJobs: true, errors: [.noSuchJob, .jobFromFile, .badName, .badSchedule, .noSuchBot],
        "Changes the fields of a job that the draft names.")

    package static let removeJob = Endpoint(
        "removeJob", .delete, "/v1/jobs/{job}", path: String.self, needsJobs: true,
        errors: [.noSuchJob, .jobFromFile], "Removes a job; its runs are kept.")

    package static let pauseJob = Endpoint(
        "pauseJob", .post, "/v1/jobs/{job}/pause", path: String.self, takes: .optional(PauseRequest()),
        answers: WireJob.self, needsJobs: true, errors: [.noSuchJob],
        "Pauses a job: its slots are skipped.")

    package static let resumeJob = Endpoint(
        "resumeJob", .post, "/v1/jobs/{job}/resume", path: String.self, answers: WireJob.self,
        needsJobs: true, errors: [.noSuchJob], "Resumes a paused job.")

    package static let runJob = Endpoint(
        "runJob", .post, "/v1/jobs/{job}/run", path: String.self, takes: .optional(RunRequest()),
        answers: WireRun.self, creates: true, needsJobs: true,
        errors: [.noSuchJob, .overlap], "Runs a job now.")

    package static let nextSlots = Endpoint(
        "nextSlots", .get, "/v1/jobs/{job}/next", path: String.self, query: NextSlotsQuery.self,
        answers: WireNextSlots.self, needsJobs: true, errors: [.noSuchJob],
        "Previews the next slots of a job.")

    package static let history = Endpoint(
        "history", .get, "/v1/jobs/{job}/history", path: String.self, query: HistoryQuery.self,
        answers: [WireRun].self, needsJobs: true, errors: [.noSuchJob],
        "Lists the runs of a job, and the slots that did not run, newest first.")

    package static let profile = Endpoint(
        "profile", .get, "/v1/jobs/{job}/profile", path: String.self, answers: WireProfile.self,
        needsJobs: true, errors: [.noSuchJob],
        "Compares the last completed run of a job with those before it, phase by phase.")
}

// Jobs as text.
extension Endpoints {
    package static let jobText = Endpoint(
        "jobText", .get, "/v1/jobs/{job}/yaml", path: String.self, query: JobTextQuery.self,
        answers: WireJobText.self, needsJobs: true, errors: [.noSuchJob],
        "Shows a job as a configuration file has it, with the values of its environment.")

    package static let setJobText = Endpoint(
        "setJobText", .post, "/v1/jobs/{job}/yaml", path: String.self, takes: .json(WireJobText.self),
        answers: WireJob.self, needsJobs: true,
        errors: [.noSuchJob, .jobFromFile, .badName, .badSchedule, .badConfig],
        "Replaces a job by what a text in the form of a configuration file says.")
}

// Runs.
extension Endpoints {
    package static let runs = Endpoint(
        "runs", .get, "/v1/runs", query: RunsQuery.self, answers: [WireRun].self, needsJobs: true,
        errors: [.noSuchJob],
        "Lists runs, and slots that did not run, newest first.")

    package static let run = Endpoint(
        "run", .get, "/v1/runs/{job}/{number}", path: RunTarget.self, answers: WireRun.self,
        errors: [.noSuchRun, .noSuchJob], "Shows a run with its attempts; newest is the job's newest run.")

    package static let logs = Endpoint(
        "logs", .get, "/v1/runs/{job}/{number}/logs", path: RunTarget.self, query: LogsQuery.self,
        answers: OutputStream.self, errors: [.noSuchRun, .noSuchJob, .noSuchAttempt, .noOutput],
        "Sends the output of an attempt up to the next gap; an empty answer means that there is no more.")

    package static let cancelRun = Endpoint(
        "cancelRun", .post, "/v1/runs/{job}/{number}/cancel", path: RunTarget.self, answers: WireRun.self,
        errors: [.noSuchRun, .noSuchJob, .runEnded, .overlap],
        "Cancels a run: ends its whole process tree; newest is the job's active run.")

    package static let retryRun = Endpoint(
        "retryRun", .post, "/v1/runs/{job}/{number}/retry", path: RunTarget.self, answers: WireRun.self,
        creates: true, needsJobs: true,
        errors: [.noSuchRun, .noSuchJob, .runNotEnded, .notRepeatable, .overlap],
        "Repeats a finished run as a new one.")

    package static let pauseRun = Endpoint(
        "pauseRun", .post, "/v1/runs/{job}/{number}/pause", path: RunTarget.self, answers: WireRun.self,
        errors: [.noSuchRun, .noSuchJob, .runEnded, .overlap, .notPausable],
        "Stops all processes of a run until it is resumed; its timeout is suspended meanwhile.")

    package static let resumeRun = Endpoint(
        "resumeRun", .post, "/v1/runs/{job}/{number}/resume", path: RunTarget.self, answers: WireRun.self,
        errors: [.noSuchRun, .noSuchJob, .runEnded, .overlap, .notPausable],
        "Continues a paused run; newest is the job's active run.")

    package static let exec = Endpoint(
        "exec", .post, "/v1/exec", takes: .json(ExecRequest.self), answers: WireRun.self, creates: true,
        needsJobs: true, errors: [.badName, .jobExists, .noSuchJob, .overlap],
        "Runs a command with history, progress and notifications.")

    package static let spool = Endpoint(
        "spool", .post, "/v1/spool", "Records the runs that belfry exec did without a daemon.")
}

// Streams and live states.
extension Endpoints {
    package static let events = Endpoint(
        "events", .get, "/v1/events", query: EventsQuery.self, answers: EventStream.self, errors: [.badValue],
        "Streams events as they happen.")

    package static let live = Endpoint(
        "live", .get, "/v1/live", answers: [WireLive].self, "Lists the live states of the active runs.")
}

// Silences.
extension Endpoints {
    package static let silences = Endpoint(
        "silences", .get, "/v1/silences", query: SilencesQuery.self, answers: [WireSilence].self,
        "Lists the silences that have not ended, newest first.")

    package static let addSilence = Endpoint(
        "addSilence", .post, "/v1/silences", takes: .json(SilenceRequest.self), answers: WireSilence.self,
        creates: true, needsJobs: true, errors: [.badValue],
        "Silences what matches for a while, also before it exists.")

    package static let endSilence = Endpoint(
        "endSilence", .post, "/v1/silences/{silence}/end", path: String.self, answers: WireSilence.self,
        needsJobs: true, errors: [.noSuchSilence, .ambiguousID, .silenceEnded],
        "Ends a silence now; what it kept back and is still so is shown.")
}

extension Endpoints {
    package static let digest = Endpoint(
        "digest", .post, "/v1/digest", answers: [WireHeldItem].self,
        "Shows what quiet hours and budgets keep back now, and lists it, the most relevant first.")
}

// The outbox and its channels.
extension Endpoints {
    package static let outbox = Endpoint(
        "outbox", .get, "/v1/outbox", query: OutboxQuery.self, answers: [WireOutboxEntry].self,
        "Lists outbox entries, newest first.")

    package static let outboxEntry = Endpoint(
        "outboxEntry", .get, "/v1/outbox/{entry}", path: String.self, answers: WireOutboxEntry.self,
        errors: [.noSuchOutboxEntry, .ambiguousID], "Shows an outbox entry.")

    package static let retryEntry = Endpoint(
        "retryEntry", .post, "/v1/outbox/{entry}/retry", path: String.self, answers: WireOutboxEntry.self,
        errors: [.noSuchOutboxEntry, .ambiguousID, .entrySettled], "Retries a dead or pending entry now.")

    package static let discardEntry = Endpoint(
        "discardEntry", .post, "/v1/outbox/{entry}/discard", path: String.self,
        answers: WireOutboxEntry.self, errors: [.noSuchOutboxEntry, .ambiguousID, .entrySettled],
        "Discards an entry: it is never sent.")

    package static let why = Endpoint(
        "why", .get, "/v1/why", query: WhyQuery.self, answers: [WireVerdict].self,
        errors: [.noSuchSubject, .ambiguousID],
        "Shows what was decided about a message, a run, an item or an outbox entry.")

    package static let channels = Endpoint(
        "channels", .get, "/v1/channels", answers: [WireChannel].self, "Lists the channels with their health."
    )

    package static let addChannel = Endpoint(
        "addChannel", .post, "/v1/channels", takes: .json(WireChannelDraft.self), answers: WireChannel.self,
        creates: true, needsJobs: true, errors: [.badValue, .channelExists], "Adds a channel.")

    package static let removeChannel = Endpoint(
        "removeChannel", .delete, "/v1/channels/{channel}", path: String.self,
        answers: WireChannelDiscard.self, needsJobs: true, errors: [.noSuchChannel, .channelFromFile],
        "Removes a channel and its secrets, and discards what waits for it.")

    package static let testChannel = Endpoint(
        "testChannel", .post, "/v1/channels/{channel}/test", path: String.self, answers: WireChannelTest.self,
        errors: [.noSuchChannel], "Sends a test notice and waits for its outcome.")

    package static let retryChannel = Endpoint(
        "retryChannel", .post, "/v1/channels/{channel}/retry", path: String.self,
        query: ChannelRetryQuery.self, answers: WireChannelRetry.self,
        errors: [.noSuchChannel, .entrySettled], "Retries all undelivered entries of a channel.")

    package static let replayChannel = Endpoint(
        "replayChannel", .post, "/v1/channels/{channel}/replay", path: String.self,
        query: ChannelReplayQuery.self, answers: WireChannelReplay.self, errors: [.noSuchChannel, .badValue],
        "Sends settled entries of a channel again, under their ids.")

    package static let discardChannel = Endpoint(
        "discardChannel", .post, "/v1/channels/{channel}/discard", path: String.self,
        answers: WireChannelDiscard.self, errors: [.noSuchChannel],
        "Discards all entries that wait for a channel: they are never sent.")
}

// Tokens of the door.
extension Endpoints {
    package static let tokens = Endpoint(
        "tokens", .get, "/v1/tokens", answers: [WireToken].self,
        "Lists the tokens that programs connect over TCP with, never the tokens themselves.")

    package static let addToken = Endpoint(
        "addToken", .post, "/v1/tokens", takes: .json(TokenDraft.self), answers: WireNewToken.self,
        creates: true, errors: [.badName, .tokenExists],
        "Makes a token; only this answer ever shows it.")

    package static let removeToken = Endpoint(
        "removeToken", .delete, "/v1/tokens/{token}", path: String.self, errors: [.noSuchToken],
        "Removes a token; requests that use it are rejected from then on.")
}

// What must report in time.
extension Endpoints {
    package static let expectations = Endpoint(
        "expectations", .get, "/v1/expectations", answers: [WireExpectation].self,
        "Lists what must report in time, by name, with the addresses that it reports at.")

    package static let expect = Endpoint(
        "expect", .post, "/v1/expectations", takes: .json(ExpectationDraft.self),
        answers: WireExpectation.self, errors: [.badName, .badSchedule, .badValue],
        "Expects reports in time, or changes when they are due; the address stays.")

    package static let removeExpectation = Endpoint(
        "removeExpectation", .delete, "/v1/expectations/{expectation}", path: String.self,
        errors: [.noSuchExpectation], "Removes an expectation; its address is rejected from then on.")
}
