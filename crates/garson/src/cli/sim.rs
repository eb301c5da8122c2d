//! `garson sim`: the simulated platforms alone, and control of them.

use super::command::{CommandError, Outcome, print_line, runtime};
use super::output::Output;
use super::progress::{ShownProgress, Unit};
use clap::{Args, Subcommand};
use garson_sim::views::{
    Autopilot, Courier, Fault, FaultRequest, OrderRequest, OrderView, Quirks, Step, StoreRequest,
};
use garson_sim::{ControlClient, Platform, Sim, SimSettings};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Args)]
pub struct SimArgs {
    /// The address of the simulator that a command controls
    #[arg(
        long,
        global = true,
        default_value = "http://127.0.0.1:8090",
        value_name = "URL"
    )]
    url: String,
    /// Without a command: where to listen
    #[arg(long, default_value = "127.0.0.1:8090", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Without a command: the seconds that Getir requires between two status changes of an order
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    getir_gap: u64,
    /// Print JSON; a list as one object per line
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<SimCommand>,
}

#[derive(Subcommand)]
enum SimCommand {
    /// Open a store on a platform, with the credentials that both sides know
    Store {
        #[arg(long)]
        platform: Platform,
        /// The platform's id of the store
        #[arg(long)]
        remote_id: String,
        /// Where the service listens, such as http://127.0.0.1:8080; without it orders wait to be polled
        #[arg(long)]
        hook_url: Option<String>,
        /// NAME=VALUE, for each credential of the platform. The simulated ones are invented; others may read them in the process
        /// list
        #[arg(long = "credential", value_name = "NAME=VALUE")]
        credentials: Vec<String>,
        /// A file with such credentials, one on each line
        #[arg(long, value_name = "FILE")]
        credentials_file: Option<PathBuf>,
    },
    /// Place orders
    Order {
        #[arg(long)]
        platform: Platform,
        #[arg(long, default_value_t = 1)]
        count: usize,
        /// In this store; otherwise in any
        #[arg(long)]
        remote_id: Option<String>,
        /// Who delivers it: platform, restaurant or pickup
        #[arg(long, value_parser = word::<Courier>)]
        courier: Option<Courier>,
        /// For later
        #[arg(long, value_name = "MINUTES")]
        scheduled_in: Option<u32>,
        /// Do not push it: it must be polled
        #[arg(long)]
        no_push: bool,
    },
    /// List the orders as the platforms have them
    Orders {
        #[arg(long)]
        platform: Option<Platform>,
    },
    /// Cancel an order on its platform
    Cancel {
        #[arg(long)]
        platform: Platform,
        id: String,
        /// customer, platform or restaurant
        #[arg(long, default_value = "customer")]
        by: String,
    },
    /// Move the platform's courier
    Courier {
        #[arg(long)]
        platform: Platform,
        id: String,
        /// assigned, arrived, picked_up or delivered
        #[arg(value_parser = word::<Step>)]
        step: Step,
    },
    /// Inject a fault
    Fault {
        #[arg(long)]
        platform: Platform,
        /// An operation such as verify, `push`, or `*`
        #[arg(long, default_value = "*")]
        on: String,
        /// How often; without it until `garson sim mend`
        #[arg(long)]
        times: Option<u64>,
        /// The fault as JSON, such as {"kind":"status","status":503} or {"kind":"drop"}
        fault: String,
    },
    /// Remove all faults
    Mend,
    /// Place orders automatically
    Autopilot {
        /// Without it: stop placing orders automatically
        #[arg(long, default_value_t = 20)]
        orders_per_minute: u32,
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=100))]
        customers_cancel_percent: u8,
        #[arg(long, default_value_t = 20)]
        courier_seconds: u64,
    },
}

/// A word of the control API.
fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::String(text.to_owned())).map_err(|error| error.to_string())
}

pub fn run(args: SimArgs) -> Outcome {
    let control = ControlClient::new(args.url.clone());
    runtime()?.block_on(async {
        match args.command {
            None => serve(args.listen, args.getir_gap).await,
            Some(command) => tell(&control, command, Output::of(args.json)).await,
        }
    })
}

async fn serve(listen: SocketAddr, getir_gap_seconds: u64) -> Outcome {
    let settings = SimSettings {
        listen,
        getir_gap_seconds,
        ..SimSettings::default()
    };
    let sim = Sim::start(settings)
        .await
        .map_err(|error| CommandError(format!("cannot listen on {listen}: {error}")))?;
    let address = sim.address();
    print_line(&format!("The simulated platforms listen on http://{address}"));
    for platform in Platform::ALL {
        print_line(&format!(
            "  GARSON_PLATFORMS__{}__BASE_URL=http://{address}/{platform}",
            platform.name().to_uppercase()
        ));
    }
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    sim.stop().await;
    Ok(())
}

async fn tell(control: &ControlClient, command: SimCommand, output: Output) -> Outcome {
    match command {
        SimCommand::Store {
            platform,
            remote_id,
            hook_url,
            mut credentials,
            credentials_file,
        } => {
            if let Some(file) = credentials_file {
                let text = std::fs::read_to_string(&file)
                    .map_err(|error| CommandError(format!("{} cannot be read: {error}", file.display())))?;
                credentials.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
            }
            let store = StoreRequest {
                platform,
                remote_id,
                name: None,
                hook_url,
                credentials: Value::Object(pairs(&credentials)?),
                quirks: Quirks::default(),
            };
            let store = control.put_store(&store).await?;
            output.result(
                format!("{} {}  {}", store.platform, store.remote_id, store.name),
                &json!(store),
            );
        }
        SimCommand::Order {
            platform,
            count,
            remote_id,
            courier,
            scheduled_in,
            no_push,
        } => {
            let request = OrderRequest {
                remote_id,
                count,
                courier,
                scheduled_in_minutes: scheduled_in,
                push: !no_push,
                ..OrderRequest::new(platform)
            };
            let shown = ShownProgress::start("order", Unit::Orders, &Arc::default());
            let placed = control.place_orders(&request).await;
            drop(shown);
            let mut list = output.list(["platform", "store", "order"]);
            for order in placed? {
                let cells = [
                    order.platform.to_string(),
                    order.remote_id.clone(),
                    order.provider_order_id.clone(),
                ];
                list.row(cells, &json!(order));
            }
        }
        SimCommand::Orders { platform } => {
            let mut list = output.list(["platform", "store", "order", "state"]);
            for order in control.orders(platform).await? {
                let cells = [
                    order.platform.to_string(),
                    order.remote_id.clone(),
                    order.provider_order_id.clone(),
                    order.state_text(),
                ];
                list.row(cells, &json!(order));
            }
        }
        SimCommand::Cancel { platform, id, by } => show(&control.cancel(platform, &id, &by).await?, output),
        SimCommand::Courier { platform, id, step } => {
            show(&control.courier(platform, &id, step).await?, output);
        }
        SimCommand::Fault {
            platform,
            on,
            times,
            fault,
        } => {
            let fault: Fault = serde_json::from_str(&fault)
                .map_err(|error| CommandError(format!("the fault cannot be read: {error}")))?;
            let request = FaultRequest {
                platform,
                on,
                fault,
                order: None,
                times,
            };
            control.order_fault(&request).await?;
            output.result("the fault is active", &json!(request));
        }
        SimCommand::Mend => {
            control.clear_faults().await?;
            output.result("all faults are removed", &json!({ "faults": [] }));
        }
        SimCommand::Autopilot {
            orders_per_minute,
            customers_cancel_percent,
            courier_seconds,
        } => {
            let autopilot = Autopilot {
                orders_per_minute,
                customers_cancel_percent,
                courier_seconds,
            };
            control.autopilot(autopilot).await?;
            output.result("the autopilot is set", &json!(autopilot));
        }
    }
    Ok(())
}

fn show(order: &OrderView, output: Output) {
    let text = format!(
        "{} {}  {}  {}",
        order.platform,
        order.remote_id,
        order.provider_order_id,
        order.state_text()
    );
    output.result(text, &json!(order));
}

/// Parses credentials; a value that is a JSON object is passed as one.
fn pairs(given: &[String]) -> Result<Map<String, Value>, CommandError> {
    let mut found = Map::new();
    for pair in given {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| CommandError(format!("{pair} is not NAME=VALUE")))?;
        let object = serde_json::from_str::<Map<String, Value>>(value).map(Value::Object);
        found.insert(name.to_owned(), object.unwrap_or_else(|_| value.into()));
    }
    Ok(found)
}
