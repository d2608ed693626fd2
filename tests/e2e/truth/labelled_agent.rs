//! The agent of labelled_agent.py on async-openai: labelled_agent MANNER PROMPT
//!
//! A loop of one's own that joins the parts of a stream. Arguments that are no JSON count as none.

use async_openai::Client;
use async_openai::types::chat::CreateChatCompletionRequest;
use futures::StreamExt;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

fn log(line: &Value) {
    eprintln!("TRUTH {line}");
}

fn run(name: &str, arguments: &str) -> String {
    let given: Value = serde_json::from_str(arguments).unwrap_or_default();
    let value = |key: &str| given[key].as_str().unwrap_or("").to_owned();
    if name == "search" {
        let query = value("query");
        log(&json!({"tool": "search", "arguments": {"query": query}}));
        let (first, rest) = query.split_at(query.len().min(1));
        return format!("{}{rest} is a drink and costs 4.20 dollars.", first.to_uppercase());
    }
    log(&json!({"tool": "send_mail", "arguments": {"to": value("to"), "text": value("text")}}));
    "sent".to_owned()
}

fn offer(name: &str, parameters: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> = parameters
        .iter()
        .map(|one| ((*one).to_owned(), json!({"type": "string"})))
        .collect();
    let schema = json!({"type": "object", "properties": properties});
    json!({"type": "function", "function": {"name": name, "parameters": schema}})
}

async fn answer(prompt: &str, careful: bool) -> Result<String, Failure> {
    let client = Client::new();
    let tools = json!([offer("search", &["query"]), offer("send_mail", &["to", "text"])]);
    let mut messages = vec![json!({"role": "user", "content": prompt})];
    for _ in 0..8 {
        let asked: CreateChatCompletionRequest = serde_json::from_value(
            json!({"model": "gpt-4o-mini", "messages": messages, "tools": tools}),
        )?;
        let mut stream = client.chat().create_stream(asked).await?;
        let (mut text, mut reason) = (String::new(), None);
        let mut calls: Vec<(String, String, String)> = Vec::new();
        while let Some(part) = stream.next().await {
            for choice in part?.choices {
                text += choice.delta.content.as_deref().unwrap_or("");
                reason = choice.finish_reason.or(reason);
                for piece in choice.delta.tool_calls.unwrap_or_default() {
                    let at = piece.index as usize;
                    calls.resize(calls.len().max(at + 1), Default::default());
                    calls[at].0 += piece.id.as_deref().unwrap_or("");
                    if let Some(function) = piece.function {
                        calls[at].1 += function.name.as_deref().unwrap_or("");
                        calls[at].2 += function.arguments.as_deref().unwrap_or("");
                    }
                }
            }
        }
        let whole = reason.map(|one| serde_json::to_value(one).unwrap_or_default());
        if careful && whole != Some(json!("stop")) && whole != Some(json!("tool_calls")) {
            continue;
        }
        if calls.is_empty() {
            return Ok(text);
        }
        let made: Vec<Value> = calls
            .iter()
            .map(|(id, name, arguments)| {
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
            })
            .collect();
        messages.push(json!({"role": "assistant", "tool_calls": made}));
        for (id, name, arguments) in &calls {
            let result = run(name, arguments);
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        }
    }
    Err("no end".into())
}

#[tokio::main]
async fn main() {
    let given: Vec<String> = std::env::args().collect();
    match answer(&given[2], given[1] == "careful").await {
        Ok(text) => {
            log(&json!({"exit": 0, "answer": text}));
            println!("{text}");
        }
        Err(error) => {
            log(&json!({"exit": 1, "error": error.to_string()}));
            std::process::exit(1);
        }
    }
}
