//! A test for each row of the table, over one way.

use crate::rows::{accounts, exceptions, names, never_waiting, parameters, paths, preflights};
use crate::site::{judge, judge_in};

use super::Here;

#[tokio::test]
async fn row_1_what_only_looks_like_a_preflight() {
    judge::<Here>(&preflights::ROW).await;
}

#[tokio::test]
async fn row_2_paths_that_never_wait() {
    judge::<Here>(&never_waiting::ROW).await;
}

#[tokio::test]
async fn row_3_parameters_that_shops_read_otherwise() {
    judge_in::<Here>(&parameters::ROW, "?line=a", "/claim?event_id=a").await;
}

#[tokio::test]
async fn row_4_names_that_shops_take_for_others() {
    judge::<Here>(&names::ROW).await;
}

#[tokio::test]
async fn row_8_bodies_that_name_several_accounts() {
    judge::<Here>(&accounts::ROW).await;
}

#[tokio::test]
async fn row_15_paths_that_operators_leave_outside() {
    judge::<Here>(&exceptions::ROW).await;
}

#[tokio::test]
async fn paths_that_some_shop_reads_as_protected_ones() {
    judge::<Here>(&paths::ROW).await;
}
