// Messages and bots.
extension Endpoints {
    package static let messages = Endpoint(
        "messages", .get, "/v1/messages", query: MessagesQuery.self, answers: [WireMessage].self,
        errors: [.noSuchBot], "Lists messages, newest first.")

    package static let message = Endpoint(
        "message", .get, "/v1/messages/{message}", path: String.self, answers: WireMessage.self,
        errors: [.noSuchMessage, .ambiguousID], "Shows one message in full; its id may be shortened.")

    package static let items = Endpoint(
        "items", .get, "/v1/items", query: LimitQuery.self, answers: [WireItem].self,
        "Lists items as a person sees them.")

    package static let notify = Endpoint(
        "notify", .post, "/v1/notify", takes: .json(NotifyRequest.self), answers: WireMessage.self,
        creates: true, errors: [.noSuchChannel],
        "Posts a message.")

    package static let pin = Endpoint(
        "pin", .post, "/v1/messages/{message}/pin", path: String.self, answers: WireMessage.self,
        errors: [.noSuchMessage, .ambiguousID], "Pins a message.")

    package static let unpin = Endpoint(
        "unpin", .post, "/v1/messages/{message}/unpin", path: String.self, answers: WireMessage.self,
        errors: [.noSuchMessage, .ambiguousID], "No longer pins a message.")

    package static let read = Endpoint(
        "read", .post, "/v1/read/{message}", path: String.self, answers: WireMessage.self,
        errors: [.noSuchMessage, .ambiguousID], "Marks a message, and those before it in its thread, as read."
    )

    package static let readItem = Endpoint(
        "readItem", .post, "/v1/items/{item}/read", path: String.self,
        errors: [.noSuchSubject, .noSuchJob, .noSuchRun],
        "Marks an item as read, by its key such as job:NAME, or that of a run by JOB#N: it is closed everywhere."
    )

    package static let bots = Endpoint(
        "bots", .get, "/v1/bots", answers: [WireBot].self, needsJobs: true, "Lists the bots by name.")

    package static let bot = Endpoint(
        "bot", .get, "/v1/bots/{bot}", path: String.self, answers: WireBot.self, needsJobs: true,
        errors: [.noSuchBot], "Shows a bot.")

    package static let addBot = Endpoint(
        "addBot", .post, "/v1/bots", takes: .json(BotDraft.self), answers: WireBot.self, creates: true,
        needsJobs: true, errors: [.badName, .botExists], "Adds a bot.")

    package static let editBot = Endpoint(
        "editBot", .patch, "/v1/bots/{bot}", path: String.self, takes: .json(BotDraft.self),
        answers: WireBot.self, needsJobs: true, errors: [.noSuchBot, .botFromFile],
        "Changes the settings of a bot that the draft names.")

    package static let removeBot = Endpoint(
        "removeBot", .delete, "/v1/bots/{bot}", path: String.self, query: RemoveBotQuery.self,
        needsJobs: true,
        errors: [.noSuchBot, .botFromFile, .botInUse], "Removes a bot; its messages and usage are kept.")

    package static let testBot = Endpoint(
        "testBot", .post, "/v1/bots/{bot}/test", path: String.self, takes: .optional(BotTestRequest()),
        answers: WireBotTest.self, needsJobs: true, errors: [.noSuchBot],
        "Tests a bot step by step, and may have it reply.")

    package static let tools = Endpoint(
        "tools", .get, "/v1/bots/{bot}/tools", path: String.self, answers: [WireTool].self, needsJobs: true,
        errors: [.noSuchBot], "Lists the tools that a bot may call.")

    package static let callTool = Endpoint(
        "callTool", .post, "/v1/bots/{bot}/tools", path: String.self, takes: .json(ToolCallRequest.self),
        answers: WireToolAnswer.self, needsJobs: true, errors: [.noSuchBot],
        "Calls a tool as a bot; a refusal by the tool is an answer.")

    package static let toolProgress = Endpoint(
        "toolProgress", .get, "/v1/tool-calls/{call}", path: String.self, answers: WireToolProgress.self,
        "Shows the progress of a tool call, by the id that its caller chose; unknown once it has ended."
    )

    package static let cancelTool = Endpoint(
        "cancelTool", .delete, "/v1/tool-calls/{call}", path: String.self,
        "Cancels a tool call and the subtasks that it created; one that has ended is not changed.")
}

// Conversations.
extension Endpoints {
    package static let say = Endpoint(
        "say", .post, "/v1/bots/{bot}/messages", path: String.self, takes: .json(SayRequest.self),
        answers: WireMessage.self, creates: true, needsJobs: true,
        errors: [.noSuchBot, .noSuchMessage, .ambiguousID],
        "Says something to a bot, which answers when its turn has come.")

    package static let reply = Endpoint(
        "reply", .get, "/v1/messages/{message}/reply", path: String.self, query: ReplyQuery.self,
        answers: WireReply.self, errors: [.noSuchMessage, .ambiguousID],
        "Shows what came of a message that was said to a bot: the run that answers it, and the reply.")

    package static let react = Endpoint(
        "react", .post, "/v1/messages/{message}/reactions", path: String.self,
        takes: .json(ReactionRequest.self), answers: WireMessage.self,
        errors: [.noSuchMessage, .ambiguousID],
        "Notes a reaction to a message; its bot is shown it with the next prompt.")

    package static let resetBot = Endpoint(
        "resetBot", .post, "/v1/bots/{bot}/reset", path: String.self, needsJobs: true, errors: [.noSuchBot],
        "Begins a new session with a bot: it is shown nothing of what was said before.")
}

// Jobs of gateways.
extension Endpoints {
    package static let gateway = Endpoint(
        "gateway", .get, "/v1/bots/{bot}/gateway", path: String.self, answers: WireGateway.self,
        needsJobs: true, errors: [.noSuchBot, .badValue, .gatewayRefused],
        "Shows the jobs that the gateway of a bot runs by itself.")

    package static let watchGateway = Endpoint(
        "watchGateway", .post, "/v1/bots/{bot}/gateway/watch", path: String.self,
        takes: .json(GatewayWatchRequest.self), answers: WireGateway.self, needsJobs: true,
        errors: [.noSuchBot, .badValue, .gatewayRefused],
        "Watches the jobs of a bot's gateway from now on, or no longer.")

    package static let takeOverJob = Endpoint(
        "takeOverJob", .post, "/v1/bots/{bot}/gateway/jobs", path: String.self,
        takes: .json(TakeOverRequest.self), answers: WireJob.self, creates: true, needsJobs: true,
        errors: [
            .noSuchBot, .badValue, .badName, .badSchedule, .jobExists, .noSuchGatewayJob, .gatewayJobTaken,
            .gatewayRefused,
        ],
        "Runs a job of a bot's gateway here, in one step: it is disabled there first.")

    package static let giveBackJob = Endpoint(
        "giveBackJob", .post, "/v1/bots/{bot}/gateway/return", path: String.self,
        takes: .json(GiveBackRequest.self), needsJobs: true,
        errors: [.noSuchBot, .badValue, .noSuchGatewayJob, .gatewayRefused],
        "Has a gateway run a job again that was taken over; it is removed here first.")
}

// Questions.
extension Endpoints {
    package static let questions = Endpoint(
        "questions", .get, "/v1/questions", query: QuestionsQuery.self, answers: [WireQuestion].self,
        "Lists the questions that wait for an answer, newest first.")

    package static let askQuestion = Endpoint(
        "askQuestion", .post, "/v1/questions", takes: .json(AskRequest.self), answers: QuestionStream.self,
        "Asks a question, and streams it until it is closed; who stops reading withdraws it.")

    package static let question = Endpoint(
        "question", .get, "/v1/questions/{question}", path: String.self, answers: WireQuestion.self,
        errors: [.noSuchQuestion, .ambiguousID], "Shows a question; its id may be shortened.")

    package static let answerQuestion = Endpoint(
        "answerQuestion", .post, "/v1/questions/{question}/answer", path: String.self,
        takes: .json(AnswerRequest.self), answers: WireQuestion.self,
        errors: [.noSuchQuestion, .ambiguousID, .questionClosed],
        "Answers a question; the first answer counts.")

    package static let withdrawQuestion = Endpoint(
        "withdrawQuestion", .post, "/v1/questions/{question}/withdraw", path: String.self,
        answers: WireQuestion.self, errors: [.noSuchQuestion, .ambiguousID, .questionClosed],
        "Withdraws a question: nobody is to answer it any more.")

    package static let settleQuestions = Endpoint(
        "settleQuestions", .post, "/v1/questions/settle", takes: .json(SettleRequest.self),
        answers: Nothing.self,
        "Withdraws what a session of an agent asks, where the agent was answered elsewhere.")
}
