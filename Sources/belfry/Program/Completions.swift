import API
import APIClient
import ArgumentParser
import Host

/// What a shell offers for names, asked of the daemon; nothing when none answers at once.
enum Completions {
    static let jobs = CompletionKind.custom { _, _, _ in
        ask(.jobs, as: [WireJob].self).map(\.name)
    }

    static let runs = CompletionKind.custom { _, _, _ in
        var query = Query()
        query["limit"] = "50"
        return ask(.runs, query, as: [WireRun].self).compactMap(\.name)
    }

    static let bots = CompletionKind.custom { _, _, _ in
        ask(.bots, as: [WireBot].self).map(\.name)
    }

    static let channels = CompletionKind.custom { _, _, _ in
        ask(.channels, as: [WireChannel].self).map(\.name)
    }

    private static func ask<Value: Decodable>(
        _ route: Route, _ query: Query = Query(), as type: [Value].Type
    ) -> [Value] {
        for socket in Paths.socketsToTry() {
            let patience = Duration.milliseconds(500)
            let client = DaemonClient(socket: socket, patience: patience, longest: patience)
            if let values: [Value] = try? client.ask(route, query: query) { return values }
        }
        return []
    }
}
